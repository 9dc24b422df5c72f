//! Cache of the Hugging Face hub on this disk: how a model is named there, and where it lies.
//! What transformers, vLLM or llama.cpp fetched is found the same way. Reads files only: no
//! network, no environment.

use std::fmt;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// What a setting begins with that names a model of the hub.
pub const PREFIX: &str = "hf:";

/// Longest name that the hub gives a repository, and bound of everything that names one.
const NAME_BYTES_MAX: usize = 200;

/// `organisation/name` of a model.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Repository(String);

/// A commit, a branch, a tag, or a pull request's `refs/pr/1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision(String);

/// One state of a repository: 40 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Commit(String);

/// A model as the hub names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubModel {
    pub repository: Repository,
    pub revision: Revision,
}

/// The text names no model of the hub.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} {fault}; accepted is hf:ORGANISATION/NAME or hf:ORGANISATION/NAME@COMMIT")]
pub struct BadHubName {
    found: String,
    fault: &'static str,
}

/// The cache's directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubCache {
    root: PathBuf,
}

impl Repository {
    pub fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('/').collect();
        let is_part = |part: &&str| {
            is_word(part, "._-")
                && !part.starts_with(['.', '-'])
                && !part.ends_with(['.', '-'])
                && !part.contains("..")
                // The cache writes the slash as two dashes.
                && !part.contains("--")
        };
        let is_one = (1..=2).contains(&parts.len()) && parts.iter().all(is_part);
        (is_one && text.len() <= NAME_BYTES_MAX).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Name of its folder in a cache.
    pub fn folder(&self) -> String {
        format!("models--{}", self.0.replace('/', "--"))
    }

    /// The repository of such a folder.
    pub fn of_folder(folder: &str) -> Option<Self> {
        Self::parse(&folder.strip_prefix("models--")?.replacen("--", "/", 1))
    }
}

impl Revision {
    pub fn parse(text: &str) -> Option<Self> {
        let is_one = text.len() <= NAME_BYTES_MAX
            && text.split('/').all(|part| is_word(part, "._-") && part != "." && part != "..");
        is_one.then(|| Self(text.to_owned()))
    }

    pub fn main() -> Self {
        Self("main".to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The commit, where the revision is one.
    pub fn commit(&self) -> Option<Commit> {
        Commit::parse(&self.0)
    }
}

impl Commit {
    pub fn parse(text: &str) -> Option<Self> {
        is_hex(text, 40).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Enough of it for people.
    pub fn short(&self) -> &str {
        self.0.get(..8).unwrap_or(&self.0)
    }
}

impl From<Commit> for Revision {
    fn from(commit: Commit) -> Self {
        Self(commit.0)
    }
}

impl HubModel {
    /// Reads `hf:organisation/name@revision`; without a revision it is `main`.
    pub fn parse(text: &str) -> Result<Self, BadHubName> {
        let fault = |fault| BadHubName { found: text.to_owned(), fault };
        let named = text.strip_prefix(PREFIX).ok_or_else(|| fault("does not begin with hf:"))?;
        let (repository, revision) = named.split_once('@').unwrap_or((named, "main"));
        let repository =
            Repository::parse(repository).ok_or_else(|| fault("names no repository"))?;
        let revision = Revision::parse(revision).ok_or_else(|| fault("names no revision"))?;
        Ok(Self { repository, revision })
    }
}

impl HubCache {
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn folder(&self, repository: &Repository) -> PathBuf {
        self.root.join(repository.folder())
    }

    pub fn blobs(&self, repository: &Repository) -> PathBuf {
        self.folder(repository).join("blobs")
    }

    /// File in which the cache keeps the commit of a branch or tag.
    pub fn reference(&self, repository: &Repository, revision: &Revision) -> PathBuf {
        self.folder(repository).join("refs").join(revision.as_str())
    }

    pub fn snapshot_dir(&self, repository: &Repository, commit: &Commit) -> PathBuf {
        self.folder(repository).join("snapshots").join(commit.as_str())
    }

    /// Commit of a revision, as far as the cache knows.
    pub fn commit(&self, model: &HubModel) -> Option<Commit> {
        if let Some(commit) = model.revision.commit() {
            return Some(commit);
        }
        let path = self.reference(&model.repository, &model.revision);
        Commit::parse(fs::read_to_string(path).ok()?.trim())
    }

    /// Directory of a model that is in the cache.
    pub fn snapshot(&self, model: &HubModel) -> Option<PathBuf> {
        let dir = self.snapshot_dir(&model.repository, &self.commit(model)?);
        dir.is_dir().then_some(dir)
    }
}

/// `organisation/name@commit` of a directory that lies in a cache.
pub fn name_of_snapshot(dir: &Path) -> Option<String> {
    let commit = Commit::parse(dir.file_name()?.to_str()?)?;
    let snapshots = dir.parent().filter(|it| it.ends_with("snapshots"))?;
    let repository = Repository::of_folder(snapshots.parent()?.file_name()?.to_str()?)?;
    Some(format!("{repository}@{}", commit.short()))
}

/// Whether a repository's file may be called that: relative, of plain parts, nothing hidden
/// behind `..` or a backslash.
pub fn is_file_name(text: &str) -> bool {
    let is_plain = |it: Component<'_>| matches!(it, Component::Normal(_));
    !text.is_empty()
        && text.len() <= NAME_BYTES_MAX
        && !text.contains(['\\', ':'])
        && !text.chars().any(char::is_control)
        && text.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
        && Path::new(text).components().all(is_plain)
}

/// Whether it is so many hexadecimal digits, small ones as the hub writes them.
pub fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_word(text: &str, also: &str) -> bool {
    !text.is_empty() && text.chars().all(|it| it.is_ascii_alphanumeric() || also.contains(it))
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for HubModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { repository, revision } = self;
        match revision.as_str() {
            "main" => write!(f, "{PREFIX}{repository}"),
            other => write!(f, "{PREFIX}{repository}@{other}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "82a37760796d32b1411fe092ab5d4e227313294b";

    #[test]
    fn names_of_models_are_read_and_written_alike() {
        for (text, repository, revision) in [
            ("hf:org/name", "org/name", "main"),
            ("hf:gpt2", "gpt2", "main"),
            ("hf:org/name@v1.0", "org/name", "v1.0"),
            ("hf:org/name@refs/pr/18", "org/name", "refs/pr/18"),
        ] {
            let model = HubModel::parse(text).unwrap();
            assert_eq!(
                (model.repository.as_str(), model.revision.as_str()),
                (repository, revision)
            );
            assert_eq!(model.to_string(), text);
        }
        let model = HubModel::parse(&format!("hf:org/name@{COMMIT}")).unwrap();
        assert_eq!(model.revision.commit().unwrap().short(), "82a37760");
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for text in [
            "org/name",
            "hf:",
            "hf:/name",
            "hf:org/",
            "hf:a/b/c",
            "hf:../etc",
            "hf:org/..",
            "hf:org/.name",
            "hf:org/na--me",
            "hf:org/na me",
            "hf:org/name@",
            "hf:org/name@../../x",
            "hf:org/name@/etc",
            "hf:org/name@a//b",
            "hf:org\\name",
            "hf:org/name%2f..",
        ] {
            let error = HubModel::parse(text).unwrap_err().to_string();
            assert!(error.contains("accepted is hf:ORGANISATION/NAME"), "{text}: {error}");
        }
        let long = format!("hf:org/{}", "n".repeat(NAME_BYTES_MAX));
        HubModel::parse(&long).unwrap_err();
    }

    #[test]
    fn names_of_files_stay_within_their_directory() {
        for name in ["config.json", "1_Pooling/config.json", "model-00001-of-00002.safetensors"] {
            assert!(is_file_name(name), "{name}");
        }
        for name in
            ["", "/etc/passwd", "../x", "a/../x", "a//b", "a/", "./a", "a\\b", "c:x", "a\nb"]
        {
            assert!(!is_file_name(name), "{name:?}");
        }
    }

    #[test]
    fn a_snapshot_is_found_by_commit_and_by_branch() {
        let dir = tempfile::tempdir().unwrap();
        let cache = HubCache::new(dir.path().to_owned());
        let model = |text: &str| HubModel::parse(text).unwrap();
        let by_commit = model(&format!("hf:org/name@{COMMIT}"));
        assert_eq!(cache.snapshot(&by_commit), None);
        let snapshot = dir.path().join("models--org--name/snapshots").join(COMMIT);
        fs::create_dir_all(&snapshot).unwrap();
        assert_eq!(cache.snapshot(&by_commit), Some(snapshot.clone()));
        assert_eq!(cache.snapshot(&model("hf:org/name")), None);
        let refs = dir.path().join("models--org--name/refs/refs/pr");
        fs::create_dir_all(&refs).unwrap();
        fs::write(refs.join("7"), COMMIT).unwrap();
        assert_eq!(cache.snapshot(&model("hf:org/name@refs/pr/7")), Some(snapshot.clone()));
        assert_eq!(name_of_snapshot(&snapshot).unwrap(), "org/name@82a37760");
        assert_eq!(name_of_snapshot(dir.path()), None);
        // What somebody else wrote into a reference leads nowhere.
        fs::write(refs.join("7"), "../../../etc").unwrap();
        assert_eq!(cache.snapshot(&model("hf:org/name@refs/pr/7")), None);
    }
}
