//! `engram models pull`: a model's files from the hub into its cache.
//!
//! Each is asked about first, fetched under its lock, resumed where it was cut, and checked
//! against its hash before it is put in place; links appear when all is there. What to fetch is
//! in the list of known models, or chosen among the files that the hub names.

use std::fs::File;
use std::io::{IsTerminal as _, Read as _, Seek as _, SeekFrom, Write as _};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use indicatif::{ProgressBar, ProgressStyle};

use crate::base::backoff::Backoff;
use crate::base::time::{Clock as _, SystemClock};
use crate::cli::models::blob::{BLOCK_BYTES, BlobName, Digests};
use crate::cli::models::hub::{FileAt, Hub, HubError, RemoteFile};
use crate::cli::models::shelf::{BlobLock, Shelf, size};
use crate::model::hub_cache::{Commit, HubCache, HubModel, Revision};
use crate::model::known_models::KnownModel;

/// Failures in a row, without a byte between them, after which a file is given up.
const ATTEMPTS_MAX: u32 = 6;
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// How often a lock that another process holds is tried, and for how long while nothing grows.
const LOCK_PAUSE: Duration = Duration::from_millis(200);
const LOCK_STALL_MAX: Duration = Duration::from_mins(10);

/// A file with its place in the cache.
#[derive(Debug)]
struct Wanted {
    name: String,
    remote: RemoteFile,
}

/// Brings `model` into the cache and says at which commit.
pub(super) fn pull(hub: &Hub, cache: &HubCache, model: &HubModel) -> anyhow::Result<Commit> {
    let shelf = Shelf { cache, repository: &model.repository };
    let wanted = describe_all(hub, model)?;
    let Some(commit) = wanted.first().map(|it| it.remote.commit.clone()) else {
        bail!("{model} has no files that this program could read");
    };
    let missing = wanted.iter().filter(|it| !shelf.blob(&it.remote.blob).is_file());
    let bytes =
        missing.map(|it| it.remote.bytes.saturating_sub(shelf.incomplete_bytes(&it.remote.blob)));
    shelf.check_room(bytes.sum())?;
    for file in &wanted {
        fetch(hub, &shelf, file)
            .with_context(|| format!("{} of {} was not fetched", file.name, model.repository))?;
    }
    // The file by which a directory is taken for a model comes last.
    let (config, others): (Vec<&Wanted>, Vec<&Wanted>) =
        wanted.iter().partition(|it| it.name == "config.json");
    for file in others.into_iter().chain(config) {
        shelf.link(&commit, &file.name, &file.remote.blob)?;
    }
    shelf.refer(&model.revision, &commit)?;
    Ok(commit)
}

/// What the hub says of each file, all at one commit, held against the list of known models.
fn describe_all(hub: &Hub, model: &HubModel) -> anyhow::Result<Vec<Wanted>> {
    let pinned = model.revision.commit();
    let known = pinned.as_ref().and_then(|commit| KnownModel::of_hub(model, commit));
    let (names, mut commit): (Vec<String>, Option<Commit>) = if let Some(known) = known {
        (known.files.iter().map(|it| it.path.to_owned()).collect(), pinned)
    } else {
        let listing = patiently(|| hub.list(&model.repository, &model.revision))?;
        (chosen(&listing.files), Some(listing.commit))
    };
    let mut wanted = Vec::new();
    for name in names {
        let revision: Revision = match &commit {
            Some(commit) => commit.clone().into(),
            None => model.revision.clone(),
        };
        let file = FileAt { repository: &model.repository, revision: &revision, path: &name };
        let remote = patiently(|| hub.describe(file))?;
        let at = commit.get_or_insert_with(|| remote.commit.clone());
        if *at != remote.commit {
            let found = remote.commit.short();
            bail!("the hub answers for commit {found}, {} was asked for", at.short());
        }
        check_known(known, &name, &remote)?;
        wanted.push(Wanted { name, remote });
    }
    Ok(wanted)
}

/// Refuses what is not the file that this build knows, before a byte of it is fetched.
fn check_known(known: Option<&KnownModel>, name: &str, remote: &RemoteFile) -> anyhow::Result<()> {
    let files = known.map_or(&[][..], |it| it.files);
    let Some(file) = files.iter().find(|it| it.path == name) else { return Ok(()) };
    if let Some(bytes) = file.bytes.filter(|it| *it != remote.bytes) {
        bail!("{name} has {} bytes on the hub, {bytes} in this build's list", remote.bytes);
    }
    if let (Some(expected), Some(found)) = (file.sha256, remote.blob.sha256())
        && expected != found
    {
        bail!("{name} has the SHA-256 {found} on the hub, {expected} in this build's list");
    }
    Ok(())
}

/// Of a repository's files those that a model is read from: no other formats of its weights.
fn chosen(files: &[String]) -> Vec<String> {
    let has = |ending: &str| files.iter().any(|it| !it.contains('/') && it.ends_with(ending));
    let weights = if has(".safetensors") { ".safetensors" } else { "pytorch_model.bin" };
    let is_wanted = |name: &&String| {
        let folder = name.rsplit_once('/').map(|(folder, _)| folder);
        let is_settings = [".json", ".txt", ".jinja"].iter().any(|end| name.ends_with(end));
        match folder {
            None => is_settings || name.ends_with(weights),
            Some(folder) => is_settings && folder.ends_with("_Pooling"),
        }
    };
    files.iter().filter(is_wanted).cloned().collect()
}

/// Fetches one file, unless it is there.
fn fetch(hub: &Hub, shelf: &Shelf<'_>, wanted: &Wanted) -> anyhow::Result<()> {
    let RemoteFile { commit, blob, bytes } = &wanted.remote;
    let _lock = lock(shelf, wanted)?;
    // Another process may have fetched it while this one waited.
    if shelf.blob(blob).is_file() {
        return Ok(());
    }
    let mut file = shelf.open_incomplete(blob)?;
    let revision = Revision::from(commit.clone());
    let at = FileAt { repository: shelf.repository, revision: &revision, path: &wanted.name };
    let bar = Bar::new(&wanted.name, *bytes);
    let resumed = shelf.incomplete_bytes(blob) > 0;
    download(hub, at, &mut file, *bytes, &bar)?;
    if let Err(error) = check(&mut file, wanted, shelf) {
        file.set_len(0)?;
        if !resumed {
            return Err(error);
        }
        // What lay there before may have been another's; from the beginning, once.
        download(hub, at, &mut file, *bytes, &bar)?;
        if let Err(error) = check(&mut file, wanted, shelf) {
            file.set_len(0)?;
            return Err(error);
        }
    }
    shelf.put(blob, &file)?;
    bar.done();
    Ok(())
}

/// Waits for the file's lock while the process that holds it gets on.
fn lock(shelf: &Shelf<'_>, wanted: &Wanted) -> anyhow::Result<BlobLock> {
    let blob = &wanted.remote.blob;
    let (mut seen, mut since) = (None, SystemClock.tick());
    loop {
        if let Some(lock) = shelf.try_lock(blob)? {
            return Ok(lock);
        }
        let bytes = Some(shelf.incomplete_bytes(blob));
        if seen.is_none() {
            report(&format!("{}: another process fetches it; waiting", wanted.name));
        }
        if seen != bytes {
            (seen, since) = (bytes, SystemClock.tick());
        }
        if since.elapsed() > LOCK_STALL_MAX {
            let minutes = LOCK_STALL_MAX.as_secs() / 60;
            bail!("another process holds its lock and fetched nothing for {minutes} minutes");
        }
        thread::sleep(LOCK_PAUSE);
    }
}

/// Appends to `file` until it has `bytes`, asking anew after each cut: links expire.
fn download(
    hub: &Hub,
    at: FileAt<'_>,
    file: &mut File,
    bytes: u64,
    bar: &Bar,
) -> anyhow::Result<()> {
    let mut backoff = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE);
    let mut failures = 0;
    let mut have = file.metadata()?.len();
    if have > bytes {
        file.set_len(0)?;
        have = 0;
    }
    while have < bytes {
        let before = have;
        let failed = match append(hub, at, file, &mut have, bytes, bar) {
            Ok(()) if have < bytes => format!("cut after {have} of {bytes} bytes"),
            Ok(()) => break,
            Err(Cut::Passing(reason)) => reason,
            Err(Cut::Final(error)) => return Err(error),
        };
        if have > before {
            failures = 0;
            backoff.reset();
        }
        failures += 1;
        if failures >= ATTEMPTS_MAX {
            bail!("given up after {failures} attempts, the last of which ended so: {failed}");
        }
        thread::sleep(backoff.next_pause());
    }
    Ok(())
}

/// How one answer ended before the file did.
enum Cut {
    Passing(String),
    Final(anyhow::Error),
}

fn append(
    hub: &Hub,
    at: FileAt<'_>,
    file: &mut File,
    have: &mut u64,
    bytes: u64,
    bar: &Bar,
) -> Result<(), Cut> {
    let answer = hub.open(at, *have).map_err(|error| match error {
        HubError::Passing(reason) => Cut::Passing(reason),
        HubError::Final(reason) => Cut::Final(anyhow::anyhow!(reason)),
    })?;
    let on_disk = |error: std::io::Error| {
        Cut::Final(anyhow::Error::new(error).context("the cache's disk takes no more"))
    };
    if answer.start != *have {
        file.set_len(answer.start).map_err(on_disk)?;
        *have = answer.start;
    }
    file.seek(SeekFrom::Start(*have)).map_err(on_disk)?;
    bar.set(*have);
    // One byte more than there should be shows that there are more.
    let mut body = answer.body.take(bytes - *have + 1);
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let read = body.read(&mut block).map_err(|error| Cut::Passing(error.to_string()))?;
        let Some(part) = block.get(..read).filter(|it| !it.is_empty()) else { return Ok(()) };
        if *have + read as u64 > bytes {
            return Err(Cut::Final(anyhow::anyhow!(
                "more than the {bytes} bytes came that it has"
            )));
        }
        file.write_all(part).map_err(on_disk)?;
        *have += read as u64;
        bar.set(*have);
    }
}

/// Holds the whole file against the hub's hash, and this build's where it has one.
fn check(file: &mut File, wanted: &Wanted, shelf: &Shelf<'_>) -> anyhow::Result<()> {
    file.rewind()?;
    let found = Digests::of(file, |_| ())?;
    let RemoteFile { commit, blob, .. } = &wanted.remote;
    if !blob.names(&found) {
        return Err(mismatch(blob, &found));
    }
    let model = HubModel { repository: shelf.repository.clone(), revision: commit.clone().into() };
    let known = KnownModel::of_hub(&model, commit);
    let file = known.and_then(|it| it.files.iter().find(|it| it.path == wanted.name));
    if let Some(expected) = file.and_then(|it| it.sha256).filter(|it| *it != found.sha256) {
        let found = found.sha256;
        bail!("its SHA-256 is {found}, in this build's list {expected}; nothing was put in place");
    }
    Ok(())
}

fn mismatch(blob: &BlobName, found: &Digests) -> anyhow::Error {
    let found = if blob.sha256().is_some() { &found.sha256 } else { &found.git };
    anyhow::anyhow!("its hash is {found}, by the hub {blob}; nothing was put in place")
}

/// Asks again what may be better later.
fn patiently<T>(mut question: impl FnMut() -> Result<T, HubError>) -> Result<T, HubError> {
    let mut backoff = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE);
    for _ in 1..ATTEMPTS_MAX {
        match question() {
            Err(HubError::Passing(_)) => thread::sleep(backoff.next_pause()),
            other => return other,
        }
    }
    question().map_err(|error| match error {
        HubError::Passing(reason) => HubError::Final(format!(
            "{reason}; where there is no network, a model comes by `engram models export` on \
             another machine and `engram models import` here"
        )),
        HubError::Final(reason) => HubError::Final(reason),
    })
}

/// Progress of one file: a bar on a terminal, elsewhere a line at its end.
struct Bar {
    name: String,
    bytes: u64,
    shown: Option<ProgressBar>,
}

impl Bar {
    fn new(name: &str, bytes: u64) -> Self {
        let shown = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(bytes);
            let template = "{msg:<28.28} [{bar:24}] {bytes:>10} of {total_bytes} {bytes_per_sec}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.set_message(name.to_owned());
            bar
        });
        Self { name: name.to_owned(), bytes, shown }
    }

    fn set(&self, bytes: u64) {
        if let Some(bar) = &self.shown {
            bar.set_position(bytes);
        }
    }

    fn done(&self) {
        match &self.shown {
            Some(bar) => bar.finish(),
            None => report(&format!("{} {}", self.name, size(self.bytes))),
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.shown {
            bar.abandon();
        }
    }
}

#[expect(clippy::print_stderr, reason = "progress, which is not the command's result")]
fn report(line: &str) {
    eprintln!("{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(files: &[&str]) -> Vec<String> {
        chosen(&files.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn of_several_formats_one_is_fetched() {
        let found = names(&[
            ".gitattributes",
            "1_Pooling/config.json",
            "README.md",
            "config.json",
            "model.safetensors",
            "onnx/config.json",
            "onnx/model.onnx",
            "pytorch_model.bin",
            "tf_model.h5",
            "tokenizer.json",
            "vocab.txt",
        ]);
        let expected =
            ["1_Pooling/config.json", "config.json", "model.safetensors", "tokenizer.json"];
        assert_eq!(found[..4], expected);
        assert_eq!(found[4..], ["vocab.txt"]);
        assert_eq!(names(&["config.json", "pytorch_model.bin"]).len(), 2);
        let shards =
            ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "x.bin"];
        assert_eq!(names(&shards), shards[..2]);
    }
}
