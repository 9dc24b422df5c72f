//! Captioner that is a vision-language model behind a server of the operator's: llama.cpp's,
//! Ollama, vLLM.
//!
//! The server is another program's: this neither starts nor ends it. While it is away or broken
//! frames wait; a frame is at fault only where the server captions a plain test image right
//! after it failed over that frame, or goes down over it. Knows nothing of frames' order and
//! pauses: those are the captioning thread's.

mod reply;

use std::fmt;
use std::io::Cursor;
use std::sync::{Arc, LazyLock};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crossbeam::channel::{RecvTimeoutError, bounded};
use image::{ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::base::caption::Caption;
use crate::base::picture::{self, BadImage, Encoding, ImageLimits};
use crate::base::stop::Stop;
use crate::base::time::Clock;
use crate::model::endpoint::{
    self, Address, Answer, Endpoint, EndpointError, Form, ListedModel, Question,
};
use crate::model::served::reply::BadReply;
use crate::model::{CaptionError, Captioner, Fingerprint, ModelError, ModelIdentity};

/// What the model is asked of each image where nothing else is set. It stays the same, so that a
/// server reads it once.
pub const PROMPT: &str = "Describe this photograph in one plain English sentence of at most thirty \
    words: the things in it with their colours, what is on, in or next to what, which room it is, \
    and what people do. Only what can be seen for sure; no introduction, no mood, no guesses.";

/// What is asked besides where the server holds the model to [`SCHEMA`].
const PROMPT_FOR_JSON: &str = "Answer in JSON: {\"caption\": that sentence, \"objects\": up to \
    eight of the things, each as {\"name\": one noun, \"colour\": its colour or \"\", \"place\": \
    such as \"on the table\" or \"\"}}.";

/// The caption comes first: an answer that is cut short still has it.
static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let text = json!({"type": "string"});
    let object = json!({
        "type": "object",
        "properties": {"name": text, "colour": text, "place": text},
        "required": ["name", "colour", "place"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": {"caption": text, "objects": {"type": "array", "items": object}},
        "required": ["caption", "objects"],
        "additionalProperties": false,
    })
});

/// Tokens of a sentence, and of one with its objects.
const TOKENS_MAX: u32 = 64;
const JSON_TOKENS_MAX: u32 = 320;

/// How long a start waits to hear which models the server has.
const START_PATIENCE: Duration = Duration::from_secs(2);
/// How long its list of models is believed: somebody may start it with another one.
const LIST_HOLDS: Duration = Duration::from_mins(1);
/// Interval at which a wait checks the stop flag.
const STOP_CHECK: Duration = Duration::from_millis(50);
/// In what llama.cpp's server says, with a 500, where it cannot read the JSON that its model wrote:
/// such as letters that are none.
const UNREADABLE: &str = "does not match the expected";
/// Models that an error names.
const NAMED_MAX: usize = 10;
/// Side of the test image: the least that some models take, and a tile of theirs.
const TEST_IMAGE_SIDE: u32 = 224;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub address: Address,
    /// As the server lists it; empty where it lists one only.
    pub model: String,
    /// What the model is asked of each image.
    pub prompt: String,
    /// From an image to its caption.
    pub deadline: Duration,
    pub limits: ImageLimits,
}

/// [`Captioner`] in a model's server.
#[derive(Debug)]
pub struct ServedCaptioner {
    options: Options,
    clock: Arc<dyn Clock>,
    stop: Stop,
    identity: ModelIdentity,
    server: String,
    endpoint: Arc<Endpoint>,
    dialect: Dialect,
    /// When the server last listed the model; `None` after it failed.
    listed_at: Option<Instant>,
    /// How often the server was found, the first time included.
    found: u64,
}

/// What the server is asked for; one that refuses is asked for less from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    JsonWithOdds,
    TextWithOdds,
    Text,
}

/// Why the model is not there.
enum Absence {
    Server(EndpointError),
    /// The server lists others.
    NotListed(String),
    NotAsked(CaptionError),
}

/// Why there is no caption.
#[derive(Debug)]
enum Failure {
    Server(EndpointError),
    Reply(BadReply),
    NotAsked(CaptionError),
}

impl ServedCaptioner {
    /// Fails if the server lists other models than the one that is set. One that does not answer
    /// may be starting, too, and is asked again with the first frame. `stop` ends every wait.
    pub fn new(options: Options, clock: Arc<dyn Clock>, stop: Stop) -> Result<Self, ModelError> {
        let server = options.address.server().to_owned();
        let model = if options.model.is_empty() { "a model" } else { options.model.as_str() };
        let name = format!("{model} at {server}");
        let identity = ModelIdentity { name, fingerprint: Fingerprint("not asked".to_owned()) };
        let endpoint = Arc::new(endpoint_of(&options, &options.model));
        let mut captioner = Self {
            options,
            clock,
            stop,
            identity,
            server,
            endpoint,
            dialect: Dialect::JsonWithOdds,
            listed_at: None,
            found: 0,
        };
        match captioner.find_model(START_PATIENCE) {
            Ok(()) => Ok(captioner),
            Err(Absence::NotListed(reason)) => {
                Err(ModelError::Unusable { path: captioner.server, reason })
            }
            Err(Absence::Server(error)) => {
                log::warn!("{error}; frames wait for it");
                Ok(captioner)
            }
            Err(Absence::NotAsked(error)) => {
                log::warn!("{error}");
                Ok(captioner)
            }
        }
    }

    /// Makes sure which model the server has.
    fn meet(&mut self) -> Result<(), CaptionError> {
        let is_fresh = |at: Instant| self.clock.tick().duration_since(at) < LIST_HOLDS;
        if self.listed_at.is_some_and(is_fresh) {
            return Ok(());
        }
        let found = self.find_model(self.options.deadline);
        found.map_err(|absence| {
            self.listed_at = None;
            match absence {
                Absence::NotAsked(error) => error,
                Absence::Server(error) => CaptionError::Unavailable(error.to_string()),
                Absence::NotListed(reason) => {
                    CaptionError::Unavailable(format!("{}: {reason}", self.server))
                }
            }
        })
    }

    fn find_model(&mut self, within: Duration) -> Result<(), Absence> {
        let listed = self.in_thread(move |endpoint| endpoint.models(within));
        let listed = listed.map_err(Absence::NotAsked)?.map_err(Absence::Server)?;
        let model = choose(&listed, &self.options.model).map_err(Absence::NotListed)?;
        let identity = identity_of(model, &self.server, &self.options.prompt);
        if identity != self.identity {
            log::info!("captions are made by {}", identity.name);
            self.endpoint = Arc::new(endpoint_of(&self.options, &model.name));
            self.identity = identity;
            self.dialect = Dialect::JsonWithOdds;
        }
        if self.listed_at.replace(self.clock.tick()).is_none() {
            self.found += 1;
        }
        Ok(())
    }

    /// One caption within the deadline, however it is to be asked for.
    fn describe(&mut self, mime: &'static str, image: &[u8]) -> Result<Caption, Failure> {
        let begun = self.clock.tick();
        let image: Arc<[u8]> = image.into();
        let (mut dialect, mut is_refused) = (self.dialect, false);
        loop {
            let spent = self.clock.tick().duration_since(begun);
            let left = self.options.deadline.saturating_sub(spent);
            let asked = self.ask(dialect, mime, Arc::clone(&image), left);
            let failure = match asked.map_err(Failure::NotAsked)? {
                Ok(answer) => match reply::read(&answer) {
                    Ok(caption) => {
                        if is_refused {
                            log::info!("{} takes {dialect} only", self.identity.name);
                            self.dialect = dialect;
                        }
                        return Ok(caption);
                    }
                    Err(bad) => Failure::Reply(bad),
                },
                Err(error) => Failure::Server(error),
            };
            match (failure.blames_the_question(), dialect.simpler()) {
                (Some(for_good), Some(simpler)) if !left.is_zero() => {
                    is_refused |= for_good;
                    dialect = simpler;
                }
                _ => return Err(failure),
            }
        }
    }

    fn ask(
        &self,
        dialect: Dialect,
        mime: &'static str,
        image: Arc<[u8]>,
        within: Duration,
    ) -> Result<Result<Answer, EndpointError>, CaptionError> {
        let user = dialect.prompt(&self.options.prompt);
        self.in_thread(move |endpoint| {
            let image = Some((mime, &*image));
            let question = Question { system: None, user: &user, image, form: dialect.form() };
            endpoint.ask(question, within)
        })
    }

    /// Asks in a thread of its own, which ends with its question: a stop does not wait for it.
    fn in_thread<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Endpoint) -> T + Send + 'static,
    ) -> Result<T, CaptionError> {
        let (answer, answers) = bounded(1);
        let endpoint = Arc::clone(&self.endpoint);
        let asking = move || drop(answer.send(question(&endpoint)));
        let thread = Builder::new().name("caption-server".to_owned()).spawn(asking);
        thread.map_err(|error| CaptionError::Unavailable(error.to_string()))?;
        loop {
            match answers.recv_timeout(STOP_CHECK) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Timeout) if self.stop.is_asked() => {
                    return Err(CaptionError::Unavailable("the daemon stops".to_owned()));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let reason = "the thread that asks it panicked; the log has the message";
                    return Err(CaptionError::Unavailable(reason.to_owned()));
                }
            }
        }
    }

    /// Whose fault a failure over an image is.
    fn judge(&mut self, failure: Failure) -> CaptionError {
        if let Failure::NotAsked(error) = failure {
            return error;
        }
        if failure.is_absence() {
            self.listed_at = None;
            return CaptionError::Unavailable(failure.to_string());
        }
        match self.describe(Encoding::Png.mime(), test_image()) {
            Ok(_caption) => failure.over_the_frame(self.options.deadline),
            Err(Failure::NotAsked(error)) => error,
            // It went down over this frame, as a worker does.
            Err(after) if failure.is_cut() && after.is_absence() => {
                self.listed_at = None;
                CaptionError::Died(failure.to_string())
            }
            Err(_same) => {
                self.listed_at = None;
                let reason = format!("{failure}; over a plain test image it fails, too");
                CaptionError::Unavailable(reason)
            }
        }
    }
}

impl Captioner for ServedCaptioner {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn caption(&mut self, image: &[u8]) -> Result<Caption, CaptionError> {
        let image = picture::upright_file(image, self.options.limits);
        let image = image.map_err(|error| CaptionError::BadImage(error.to_string()))?;
        let encoding = Encoding::of(&image)
            .ok_or_else(|| CaptionError::BadImage(BadImage::UnknownFormat.to_string()))?;
        self.meet()?;
        let described = self.describe(encoding.mime(), &image);
        described.map_err(|failure| self.judge(failure))
    }

    fn process_id(&self) -> Option<u32> {
        None
    }

    /// How often the server was found again after it had failed.
    fn restarts(&self) -> u64 {
        self.found.saturating_sub(1)
    }

    fn server(&self) -> Option<&str> {
        Some(&self.server)
    }
}

impl Dialect {
    fn simpler(self) -> Option<Self> {
        match self {
            Self::JsonWithOdds => Some(Self::TextWithOdds),
            Self::TextWithOdds => Some(Self::Text),
            Self::Text => None,
        }
    }

    fn form(self) -> Form<'static> {
        let text = Form { tokens_max: TOKENS_MAX, schema: None, log_probs: false };
        match self {
            Self::JsonWithOdds => {
                let schema = Some(("caption", &*SCHEMA));
                Form { tokens_max: JSON_TOKENS_MAX, schema, log_probs: true }
            }
            Self::TextWithOdds => Form { log_probs: true, ..text },
            Self::Text => text,
        }
    }

    fn prompt(self, set: &str) -> String {
        match self {
            Self::JsonWithOdds => format!("{set} {PROMPT_FOR_JSON}"),
            Self::TextWithOdds | Self::Text => set.to_owned(),
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::JsonWithOdds => "a JSON schema and the probabilities of tokens",
            Self::TextWithOdds => "plain text and the probabilities of tokens",
            Self::Text => "plain text",
        })
    }
}

impl Failure {
    /// Whether a simpler question may be answered, and if so whether for good.
    fn blames_the_question(&self) -> Option<bool> {
        match self {
            Self::Server(EndpointError::Status { status: 400 | 422 | 501, .. }) => Some(true),
            Self::Server(EndpointError::Status { status: 500, body, .. })
                if body.contains(UNREADABLE) =>
            {
                Some(false)
            }
            Self::Reply(_) => Some(false),
            Self::Server(_) | Self::NotAsked(_) => None,
        }
    }

    /// Whether the server or its model is not there, or not yet.
    fn is_absence(&self) -> bool {
        match self {
            Self::Server(EndpointError::Unreachable { .. }) => true,
            Self::Server(EndpointError::Status { status, .. }) => {
                matches!(status, 300..=399 | 401 | 403..=405 | 429 | 502..=504)
            }
            Self::Server(_) | Self::Reply(_) | Self::NotAsked(_) => false,
        }
    }

    fn is_cut(&self) -> bool {
        matches!(self, Self::Server(EndpointError::Cut { .. }))
    }

    /// What it means for a frame, if the server captions other images.
    fn over_the_frame(self, deadline: Duration) -> CaptionError {
        match self {
            Self::Server(EndpointError::Slow { .. }) => CaptionError::Hung(deadline),
            Self::Server(EndpointError::Status { status: 400..=499, .. }) => {
                CaptionError::BadImage(self.to_string())
            }
            Self::Server(_) | Self::Reply(_) => CaptionError::Died(self.to_string()),
            Self::NotAsked(error) => error,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(error) => error.fmt(f),
            Self::Reply(bad) => bad.fmt(f),
            Self::NotAsked(error) => error.fmt(f),
        }
    }
}

fn endpoint_of(options: &Options, model: &str) -> Endpoint {
    let Options { address, model: _, prompt: _, deadline, limits: _ } = options.clone();
    Endpoint::new(endpoint::Options { address, model: model.to_owned(), timeout: deadline })
}

/// The model that is meant, or what to set.
fn choose<'a>(listed: &'a [ListedModel], wanted: &str) -> Result<&'a ListedModel, String> {
    let names: Vec<&str> = listed.iter().map(|it| it.name.as_str()).take(NAMED_MAX).collect();
    let more = if listed.len() > NAMED_MAX { ", …" } else { "" };
    let names = format!("{}{more}", names.join(", "));
    match listed {
        [] => Err("the server has no model; give it one that reads images, as `ollama pull` does".to_owned()),
        [only] if wanted.is_empty() => Ok(only),
        _ if wanted.is_empty() => Err(format!(
            "the server has several models ({names}); set captioner.endpoint_model to one that reads images"
        )),
        // Ollama leaves the tag away in what people type.
        _ => listed
            .iter()
            .find(|it| it.name == wanted || it.name.strip_suffix(":latest") == Some(wanted))
            .ok_or_else(|| {
                format!(
                    "the server has no model {wanted:?}, but {names}; set captioner.endpoint_model to one \
                     of these that reads images"
                )
            }),
    }
}

/// Two models of one fingerprint are asked the same and answer the same, as far as the server
/// tells them apart.
fn identity_of(model: &ListedModel, server: &str, prompt: &str) -> ModelIdentity {
    let mut hash = Sha256::new();
    let schema = SCHEMA.to_string();
    for part in ["engram served 1", &model.name, &model.details, prompt, PROMPT_FOR_JSON, &schema] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    let digest = hash.finalize();
    let half = digest.first_chunk().map_or(0, |half| u128::from_be_bytes(*half));
    let fingerprint = Fingerprint(format!("{half:032x}"));
    ModelIdentity { name: format!("{} at {server}", model.name), fingerprint }
}

/// A dark square on a light ground, as PNG.
fn test_image() -> &'static [u8] {
    static IMAGE: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let middle = TEST_IMAGE_SIDE / 4..TEST_IMAGE_SIDE * 3 / 4;
        let image = RgbImage::from_fn(TEST_IMAGE_SIDE, TEST_IMAGE_SIDE, |x, y| {
            let is_inside = middle.contains(&x) && middle.contains(&y);
            Rgb(if is_inside { [40, 40, 160] } else { [230, 230, 220] })
        });
        let mut bytes = Vec::new();
        // Into memory it cannot fail; if it did, the server would refuse it, and be blamed.
        drop(image.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png));
        bytes
    });
    &IMAGE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(names: &[&str]) -> Vec<ListedModel> {
        let model = |name: &&str| ListedModel { name: (*name).to_owned(), details: String::new() };
        names.iter().map(model).collect()
    }

    #[test]
    fn the_model_is_the_only_one_or_the_one_that_is_named() {
        let chosen =
            |names: &[&str], wanted: &str| choose(&listed(names), wanted).map(|it| it.name.clone());
        assert_eq!(chosen(&["a.gguf"], "").unwrap(), "a.gguf");
        assert_eq!(
            chosen(&["llama3:8b", "moondream:latest"], "moondream").unwrap(),
            "moondream:latest"
        );
        assert_eq!(chosen(&["llama3:8b", "gemma3:4b"], "gemma3:4b").unwrap(), "gemma3:4b");
        let error = chosen(&["llama3:8b", "gemma3:4b"], "gemma3").unwrap_err();
        assert!(
            error.starts_with("the server has no model \"gemma3\", but llama3:8b, gemma3:4b; set"),
            "{error}"
        );
        let error = chosen(&["llama3:8b", "gemma3:4b"], "").unwrap_err();
        assert!(
            error.contains("several models (llama3:8b, gemma3:4b); set captioner.endpoint_model"),
            "{error}"
        );
        assert!(chosen(&[], "x").unwrap_err().contains("no model; give it one"));
        let many: Vec<String> = (0..30).map(|at| format!("m{at}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(chosen(&many, "x").unwrap_err().contains("m8, m9, …; set"));
    }

    #[test]
    fn the_name_the_details_and_the_question_of_a_model_are_its_identity() {
        let asked = |name: &str, details: &str, prompt: &str| {
            let model = ListedModel { name: name.to_owned(), details: details.to_owned() };
            identity_of(&model, "http://127.0.0.1:8080", prompt)
        };
        let model = |name: &str, details: &str| asked(name, details, PROMPT);
        let first = model("m", "7");
        assert_eq!(first.name, "m at http://127.0.0.1:8080");
        assert_eq!(first.fingerprint.0.len(), 32);
        assert_eq!(first, model("m", "7"));
        assert_ne!(first.fingerprint, model("n", "7").fingerprint);
        assert_ne!(first.fingerprint, model("m", "8").fingerprint);
        assert_ne!(first.fingerprint, asked("m", "7", "Which doors are open?").fingerprint);
    }

    #[test]
    fn the_test_image_is_one() {
        let image = picture::decode(test_image(), ImageLimits::default()).unwrap();
        assert_eq!(image.dimensions(), (TEST_IMAGE_SIDE, TEST_IMAGE_SIDE));
        assert_ne!(image.get_pixel(0, 0), image.get_pixel(112, 112));
    }
}
