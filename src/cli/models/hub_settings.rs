//! What the environment says of the Hugging Face hub, read as the hub's own programs read it.
//! Pure: takes the variables, touches neither disk nor network.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where the hub is asked when nobody says otherwise.
const ENDPOINT: &str = "https://huggingface.co";
/// How long a download may stand still. The hub's own programs take 10 s, for better lines.
const STALL: Duration = Duration::from_secs(30);

/// Settings of the hub.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct HubSettings {
    /// `HF_ENDPOINT`, without a slash at its end.
    pub(super) endpoint: String,
    /// `HF_HUB_CACHE`, or what stands for it.
    pub(crate) cache: PathBuf,
    /// `HF_TOKEN`.
    pub(super) token: Option<String>,
    /// `HF_TOKEN_PATH`: read where no token is set.
    pub(super) token_file: PathBuf,
    /// `SSL_CERT_FILE`, or what stands for it: certificates in PEM that are trusted in place of
    /// Mozilla's.
    pub(super) certificates: Option<PathBuf>,
    /// `HF_HUB_OFFLINE`: the hub is not asked.
    pub(super) offline: bool,
    /// `HF_HUB_DOWNLOAD_TIMEOUT`.
    pub(super) stall: Duration,
}

impl HubSettings {
    pub(crate) fn from_environment(variables: &[(String, String)]) -> Self {
        let set = |name: &str| {
            let found = variables.iter().find(|(it, _)| it == name);
            found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
        };
        let home = set("HOME").map(Path::new);
        let path = |name: &str| set(name).map(|text| expanded(text, home));
        let cache_home = path("XDG_CACHE_HOME").or_else(|| Some(home?.join(".cache")));
        let hf_home = path("HF_HOME")
            .or_else(|| Some(cache_home?.join("huggingface")))
            .unwrap_or_else(|| PathBuf::from("/var/cache/huggingface"));
        let cache = path("HF_HUB_CACHE").or_else(|| path("HUGGINGFACE_HUB_CACHE"));
        let is_on = |name: &str| {
            set(name).is_some_and(|it| {
                ["1", "on", "true", "yes"].contains(&it.to_ascii_lowercase().as_str())
            })
        };
        let seconds = set("HF_HUB_DOWNLOAD_TIMEOUT").and_then(|it| it.parse().ok());
        Self {
            endpoint: set("HF_ENDPOINT").unwrap_or(ENDPOINT).trim_end_matches('/').to_owned(),
            cache: cache.unwrap_or_else(|| hf_home.join("hub")),
            token: set("HF_TOKEN").or_else(|| set("HUGGING_FACE_HUB_TOKEN")).map(str::to_owned),
            token_file: path("HF_TOKEN_PATH").unwrap_or_else(|| hf_home.join("token")),
            certificates: path("SSL_CERT_FILE").or_else(|| path("REQUESTS_CA_BUNDLE")),
            offline: is_on("HF_HUB_OFFLINE") || is_on("TRANSFORMERS_OFFLINE"),
            stall: seconds.filter(|it| *it > 0).map_or(STALL, Duration::from_secs),
        }
    }
}

/// A token is nobody's to read in a log.
impl fmt::Debug for HubSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HubSettings")
            .field("endpoint", &self.endpoint)
            .field("cache", &self.cache)
            .field("offline", &self.offline)
            .finish_non_exhaustive()
    }
}

fn expanded(text: &str, home: Option<&Path>) -> PathBuf {
    match (text.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> HubSettings {
        let variables: Vec<(String, String)> = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        HubSettings::from_environment(&variables)
    }

    #[test]
    fn the_cache_is_where_the_hubs_programs_have_it() {
        for (variables, cache) in [
            (&[("HOME", "/home/r")][..], "/home/r/.cache/huggingface/hub"),
            (&[("HOME", "/h"), ("XDG_CACHE_HOME", "/c")], "/c/huggingface/hub"),
            (&[("HOME", "/h"), ("HF_HOME", "~/hf")], "/h/hf/hub"),
            (&[("HF_HOME", "/hf"), ("HF_HUB_CACHE", "/data/hub")], "/data/hub"),
            (&[("HUGGINGFACE_HUB_CACHE", "/old")], "/old"),
            (&[], "/var/cache/huggingface/hub"),
        ] {
            assert_eq!(settings(variables).cache, Path::new(cache), "{variables:?}");
        }
    }

    #[test]
    fn other_variables_are_honoured() {
        let found = settings(&[
            ("HF_ENDPOINT", "http://127.0.0.1:9/"),
            ("HF_HOME", "/hf"),
            ("HF_TOKEN", " hf_secret\n"),
            ("HF_HUB_OFFLINE", "True"),
            ("HF_HUB_DOWNLOAD_TIMEOUT", "7"),
        ]);
        assert_eq!(found.endpoint, "http://127.0.0.1:9");
        assert_eq!(found.token.as_deref(), Some("hf_secret"));
        assert_eq!(found.token_file, Path::new("/hf/token"));
        assert_eq!(found.certificates, None);
        for variable in ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"] {
            let set = settings(&[(variable, "/etc/ssl/own.pem")]);
            assert_eq!(set.certificates.as_deref(), Some(Path::new("/etc/ssl/own.pem")));
        }
        assert_eq!((found.offline, found.stall), (true, Duration::from_secs(7)));
        assert!(!format!("{found:?}").contains("secret"));
        let plain = settings(&[("HF_HUB_OFFLINE", "0"), ("HF_HUB_DOWNLOAD_TIMEOUT", "-")]);
        assert_eq!((plain.offline, plain.stall, plain.token), (false, STALL, None));
        assert_eq!(plain.endpoint, ENDPOINT);
    }
}
