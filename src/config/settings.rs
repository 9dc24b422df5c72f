//! Settings as the file writes them: a struct a table, a field a key of `config/default.toml`.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

/// Mirror of the file, as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub sources: Vec<SourceSettings>,
    pub store: StoreSettings,
    pub memory: MemorySettings,
    pub socket: SocketSettings,
    pub access: AccessSettings,
    pub audit: AuditSettings,
    pub captioner: CaptionerSettings,
    pub embedder: EmbedderSettings,
    pub reader: ReaderSettings,
    pub models: ModelsSettings,
    pub prompts: PromptsSettings,
    pub ingest: IngestSettings,
    pub time: TimeSettings,
    pub recall: RecallSettings,
    pub retrieval: RetrievalSettings,
    pub sessions: SessionsSettings,
    pub tools: ToolsSettings,
    pub agent: AgentSettings,
    pub log: LogSettings,
}

/// An entry of `[[sources]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceSettings {
    pub name: String,
    pub command: Option<String>,
    pub ros2: Option<Ros2Settings>,
    #[serde(default = "map")]
    pub frame_id: String,
    #[serde(default)]
    pub map_id: String,
    pub position: Option<Vec<f64>>,
    pub theta: Option<f64>,
    #[serde(default = "half_a_second")]
    pub window_seconds: f64,
    #[serde(default = "half_a_minute")]
    pub stall_seconds: f64,
    #[serde(default = "a_gibibyte")]
    pub memory_limit_mb: u64,
}

/// `ros2` of an entry of `[[sources]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ros2Settings {
    pub image: Option<String>,
    pub pose: Option<String>,
    pub domain: Option<u16>,
    pub zenoh: Option<String>,
}

fn map() -> String {
    "map".to_owned()
}

fn half_a_second() -> f64 {
    0.5
}

fn half_a_minute() -> f64 {
    30.0
}

fn a_gibibyte() -> u64 {
    1_024
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreSettings {
    pub state_dir: PathBuf,
    pub key: String,
    pub cache_mb: u64,
    pub images_max_mb: u64,
    pub on_damage: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemorySettings {
    pub retention_days: u64,
    pub records_max: u64,
    pub forget_share_max: f32,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SocketSettings {
    pub path: PathBuf,
    pub mode: String,
    pub group: String,
    pub max_clients: usize,
    pub max_line_mb: usize,
    pub max_in_flight_mb: u64,
    pub call_deadline_seconds: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessSettings {
    pub observe: String,
    pub read: String,
    pub write: String,
    pub erase: String,
    pub admin: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditSettings {
    pub retention_days: u64,
    pub max_mb: u64,
    pub scan_after_seconds: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaptionerSettings {
    pub model: String,
    pub endpoint: String,
    pub endpoint_model: String,
    pub endpoint_prompt: String,
    pub task: String,
    pub detect: bool,
    pub device: String,
    pub scene_text: PathBuf,
    pub start_deadline_seconds: u64,
    pub deadline_seconds: u64,
    pub memory_limit_mb: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbedderSettings {
    pub model: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReaderSettings {
    pub model: String,
    pub captions: String,
    pub matches: String,
    pub uses: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelsSettings {
    pub dir: PathBuf,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptsSettings {
    pub dir: PathBuf,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IngestSettings {
    pub spool_max: usize,
    pub image_roots: String,
    pub image_max_mb: usize,
    pub image_max_megapixels: u64,
    pub max_ahead_seconds: u64,
    pub silent_seconds: u64,
    pub pose_max_age_seconds: f64,
    pub gate: GateSettings,
    pub drop: DropSettings,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateSettings {
    pub max_pause_seconds: f64,
    pub max_span_seconds: f64,
    pub max_distance_metres: f64,
    pub max_turn_degrees: f64,
    pub max_change: f64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DropSettings {
    pub dark_below: f64,
    pub blurred_below: f64,
    pub max_per_second: f64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeSettings {
    pub zone: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecallSettings {
    pub text_max_chars: usize,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetrievalSettings {
    pub probability_min: f32,
    pub robot_names: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionsSettings {
    pub idle_hours: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolsSettings {
    pub listed: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSettings {
    pub endpoint: String,
    pub model: String,
    pub timeout_seconds: u64,
    pub steps_max: usize,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogSettings {
    pub level: String,
    pub format: String,
}
impl Settings {
    pub fn call_deadline(&self) -> Duration {
        Duration::from_secs(self.socket.call_deadline_seconds)
    }
}
