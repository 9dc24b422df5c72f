//! Directory of a backup: its files by their content, and what is wrong with them.
//!
//! Only files that are named as ours are ever removed; symbolic links are not followed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Advice, FlockOperation};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use crate::store::backup::contents::{Contents, FileRef, ImageRef, PackRef};
use crate::store::backup::pack::{self, Entry};
use crate::store::backup::{BackupError, Hash, ImageName, StoreId, hash, hex};
use crate::store::durable;
use crate::store::witness::Witness;

const MARKER: &str = "backup";
const PACKS: &str = "packs";
const FRAMES: &str = "frames";
const PACK_ENDING: &str = "pack";
const FRAME_ENDING: &str = "frame";
/// Images in one directory, as in the store.
const IMAGES_A_DIRECTORY: u64 = 1_000;
/// Faults that are named; of more, how many.
const FAULTS_NAMED: usize = 20;
const BUFFER_BYTES: usize = 256 << 10;
/// Rights of others than the owner.
const OTHERS: u32 = 0o077;

/// A backup's directory, held by this process.
#[derive(Debug)]
pub(super) struct BackupDirectory {
    path: PathBuf,
    #[expect(dead_code, reason = "the lock lives as long as the open file")]
    lock: File,
}

impl BackupDirectory {
    /// The directory for backups of a store, made where there is none, with the backup that is
    /// there. What is no directory of ours, or of another store, is refused.
    pub(super) fn open(
        path: &Path,
        store: StoreId,
    ) -> Result<(Self, Option<Contents>), BackupError> {
        let io = |doing| move |error: io::Error| BackupError::io(doing, path, &error);
        match fs::metadata(path) {
            Ok(meta) if !meta.is_dir() => {
                return Err(BackupError::refused(path, "a backup is a directory, this is a file"));
            }
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {
                DirBuilder::new()
                    .recursive(true)
                    .mode(0o700)
                    .create(path)
                    .map_err(io("make the directory"))?;
            }
            Err(error) => return Err(io("look at the directory")(error)),
        }
        let line = marker(store);
        match fs::read_to_string(path.join(MARKER)) {
            Ok(found) if found == line => {}
            Ok(found) if found.starts_with(MARKER_START) => {
                let reason = "this is a backup of another store, choose another directory";
                return Err(BackupError::refused(path, reason));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // A kill may have left the draft of it.
                let draft = OsString::from(format!("{MARKER}.{}", durable::DRAFT));
                let names = fs::read_dir(path).map_err(io("list the directory"))?;
                if names.flatten().any(|it| it.file_name() != draft) {
                    let reason = "the directory is not empty and no backup of engram's, choose \
                                  another one";
                    return Err(BackupError::refused(path, reason));
                }
                make_private(path)?;
                durable::replace(&path.join(MARKER), line.as_bytes())
                    .map_err(io("write the backup to"))?;
            }
            Err(error) if error.kind() != ErrorKind::InvalidData => {
                return Err(io("read the backup in")(error));
            }
            Ok(_) | Err(_) => {
                let reason = "the file \"backup\" there is none of engram's, or damaged; choose \
                              another directory";
                return Err(BackupError::refused(path, reason));
            }
        }
        make_private(path)?;
        let lock = File::open(path.join(MARKER)).map_err(io("lock the backup in"))?;
        match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                let reason = "another process makes a backup there; wait until it has ended";
                return Err(BackupError::refused(path, reason));
            }
            Err(error) => return Err(io("lock the backup in")(error.into())),
        }
        for dir in [PACKS, FRAMES] {
            own_directory(&path.join(dir))?;
        }
        let earlier = match Contents::read(path) {
            // Nothing can be restored of it: it is made anew, as that error says.
            Err(error @ BackupError::NotWhole { .. }) => {
                log::warn!(error:%; "the backup that was there is damaged");
                None
            }
            read => read?,
        };
        Ok((Self { path: path.to_owned(), lock }, earlier))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps a pack or another file of that content; whether it had to be written.
    pub(super) fn put_pack(&self, bytes: &[u8]) -> Result<(FileRef, bool), BackupError> {
        let file = FileRef { hash: hash(bytes), bytes: bytes.len() as u64 };
        let is_new = !self.has_pack(&file);
        if is_new {
            write(&pack_path(&self.path, &file.hash), bytes)?;
        }
        Ok((file, is_new))
    }

    pub(super) fn put_image(&self, name: ImageName, bytes: &[u8]) -> Result<ImageRef, BackupError> {
        let path = image_path(&self.path, name);
        if let Some(group) = path.parent() {
            own_directory(group)?;
        }
        write(&path, bytes)?;
        let file = FileRef { hash: hash(bytes), bytes: bytes.len() as u64 };
        Ok(ImageRef { name, file })
    }

    pub(super) fn has_pack(&self, file: &FileRef) -> bool {
        check_file(&pack_path(&self.path, &file.hash), file).is_ok()
    }

    pub(super) fn has_image(&self, image: &ImageRef) -> bool {
        check_file(&image_path(&self.path, image.name), &image.file).is_ok()
    }

    /// Everything that was written reaches the disk.
    pub(super) fn sync(&self) -> Result<(), BackupError> {
        let io = |error: io::Error| BackupError::io("sync the backup in", &self.path, &error);
        let dir = File::open(&self.path).map_err(io)?;
        rustix::fs::syncfs(&dir).map_err(|error| io(error.into()))
    }

    /// Removes the files of ours that none of these name; how many.
    pub(super) fn remove_others(&self, kept: Option<&Contents>) -> Result<u64, BackupError> {
        let mut named = BTreeSet::new();
        if let Some(contents) = kept {
            named.extend(contents.all_packs().map(|it| pack_path(&self.path, &it.file.hash)));
            let audit = contents.audit.iter();
            named.extend(audit.map(|(_, it)| pack_path(&self.path, &it.hash)));
            named.extend(contents.images.iter().map(|it| image_path(&self.path, it.name)));
        }
        let mut removed = 0;
        let frames = list(&self.path.join(FRAMES))?;
        let groups = frames.iter().filter(|it| is_real_directory(it));
        for dir in groups.chain([&self.path.join(PACKS)]) {
            let files = list(dir)?;
            for file in files.into_iter().filter(|it| is_ours(it) && !named.contains(it)) {
                let io = |error| BackupError::io("remove what was in the backup", &file, &error);
                fs::remove_file(&file).map_err(io)?;
                removed += 1;
            }
        }
        for group in &frames {
            // Only where nothing is left in it.
            drop(fs::remove_dir(group));
        }
        Ok(removed)
    }
}

/// Reads the entries of a backup in the order of its packs, each once, as of its witness.
/// A pack that is not whole is a fault, and left out.
pub(super) fn read_entries<E>(
    dir: &Path,
    contents: &Contents,
    faults: &mut Faults,
    mut take: impl FnMut(Vec<u8>, Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let mut read = |pack: &PackRef| -> Vec<Entry> {
        let path = pack_path(dir, &pack.file.hash);
        let bytes = match read_uncached(&path) {
            Ok(bytes) => bytes,
            Err(fault) => {
                faults.add(fault);
                return Vec::new();
            }
        };
        pack::parse(&bytes, &pack.file.hash).unwrap_or_else(|| {
            faults.add(describe(&path, "is damaged"));
            Vec::new()
        })
    };
    let mut changed_in: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    for (at, pack) in contents.changes.iter().enumerate() {
        changed_in.extend(read(pack).into_iter().map(|(key, _)| (key, at)));
    }
    for pack in &contents.packs {
        for (key, value) in read(pack) {
            if let Some(value) = value.filter(|_| !changed_in.contains_key(&key)) {
                take(key, value)?;
            }
        }
    }
    for (at, pack) in contents.changes.iter().enumerate() {
        for (key, value) in read(pack) {
            if let Some(value) = value.filter(|_| changed_in.get(&key) == Some(&at)) {
                take(key, value)?;
            }
        }
    }
    Ok(())
}

/// Reads all packs, and compares the entries with what the store had acknowledged; what is
/// missing where all packs are whole.
pub(super) fn check_entries(dir: &Path, contents: &Contents, faults: &mut Faults) -> Vec<String> {
    let mut found = Witness::default();
    let Ok(()) = read_entries(dir, contents, faults, |key, value| {
        found.change(&key, None, Some(&value));
        Ok::<(), std::convert::Infallible>(())
    });
    let is_all = faults.is_empty();
    for (name, file) in &contents.audit {
        let checked = check_file(&pack_path(dir, &file.hash), file);
        checked.unwrap_or_else(|fault| faults.add(format!("audit/{name}: {fault}")));
    }
    if !is_all {
        return Vec::new();
    }
    contents.witness.losses(&found).iter().map(ToString::to_string).collect()
}

pub(super) fn check_image(dir: &Path, image: &ImageRef, faults: &mut Faults) {
    let checked = check_file(&image_path(dir, image.name), &image.file);
    checked.unwrap_or_else(|fault| faults.add(fault));
}

/// Copies an image to where the store keeps it.
pub(super) fn copy_image(dir: &Path, image: &ImageRef, state: &Path) -> Result<(), BackupError> {
    let path = image_path(dir, image.name);
    let bytes = fs::read(&path).map_err(|error| BackupError::io("read", &path, &error))?;
    if hash(&bytes) != image.file.hash {
        let faults = vec![describe(&path, "is damaged")];
        return Err(BackupError::NotWhole { path: dir.to_owned(), faults, more: 0 });
    }
    let ticket = image.name.ticket;
    let group = state.join(FRAMES).join((ticket / IMAGES_A_DIRECTORY).to_string());
    own_directory(&group)?;
    write(&group.join(format!("{ticket}.{FRAME_ENDING}")), &bytes)
}

/// A file of the audit log.
pub(super) fn read_other(dir: &Path, file: &FileRef) -> Result<Vec<u8>, BackupError> {
    let path = pack_path(dir, &file.hash);
    fs::read(&path).map_err(|error| BackupError::io("read", &path, &error))
}

/// What is wrong with a backup.
#[derive(Debug, Default)]
pub(super) struct Faults {
    named: Vec<String>,
    more: usize,
}

impl Faults {
    pub(super) fn add(&mut self, fault: String) {
        if self.named.contains(&fault) {
            return;
        }
        if self.named.len() < FAULTS_NAMED {
            self.named.push(fault);
        } else {
            self.more += 1;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    /// An error of what was written just now, where there are any.
    pub(super) fn into_write_error(self, dir: &Path) -> Result<(), BackupError> {
        let Self { named: faults, more } = self;
        if faults.is_empty() {
            return Ok(());
        }
        Err(BackupError::NotReadBack { path: dir.to_owned(), faults, more })
    }

    /// An error where there are any.
    pub(super) fn into_error(self, dir: &Path) -> Result<(), BackupError> {
        let Self { named: faults, more } = self;
        if faults.is_empty() {
            return Ok(());
        }
        Err(BackupError::NotWhole { path: dir.to_owned(), faults, more })
    }
}

const MARKER_START: &str = "A backup of engram's, version 1, of the store ";

fn marker(store: StoreId) -> String {
    format!("{MARKER_START}{}.\nengram restore --check says whether it is whole.\n", hex(&store))
}

/// Keeps a directory to this user.
pub(super) fn make_private(path: &Path) -> Result<(), BackupError> {
    let io = |error: io::Error| BackupError::io("look at the directory", path, &error);
    let mode = || fs::metadata(path).map(|meta| meta.permissions().mode() & 0o777);
    let is_private = |mode: u32| mode & OTHERS == 0;
    if is_private(mode().map_err(io)?) {
        return Ok(());
    }
    // Where it cannot be set, it is seen that it was not.
    drop(fs::set_permissions(path, Permissions::from_mode(0o700)));
    let mode = mode().map_err(io)?;
    if is_private(mode) {
        return Ok(());
    }
    Err(BackupError::refused(
        path,
        format!(
            "the directory is open to others, mode {mode:04o}, and the memory can be read with \
             what will be in it: chmod 700 it, or mount a file system without modes with umask=0077"
        ),
    ))
}

/// Makes a directory of ours; what stands there and is none is refused.
fn own_directory(path: &Path) -> Result<(), BackupError> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => Ok(()),
        Ok(_) => Err(BackupError::refused(path, "this is no directory of a backup's; remove it")),
        Err(error) if error.kind() == ErrorKind::NotFound => DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(|error| BackupError::io("make the directory", path, &error)),
        Err(error) => Err(BackupError::io("look at the directory", path, &error)),
    }
}

/// For the owner alone; there as a whole once it has its name, durable after a sync.
fn write(path: &Path, bytes: &[u8]) -> Result<(), BackupError> {
    let draft = path.with_extension(durable::DRAFT);
    let written = || -> io::Result<()> {
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        file.write_all(bytes)?;
        fs::rename(&draft, path)
    };
    written().map_err(|error| BackupError::io("write", path, &error))
}

/// Whether a file has the content that it should have; the fault, if any.
fn check_file(path: &Path, expected: &FileRef) -> Result<(), String> {
    let unreadable = |error: &io::Error| describe(path, &missing_or(error));
    let mut file = File::open(path).map_err(|error| unreadable(&error))?;
    let bytes = file.metadata().map_err(|error| unreadable(&error))?.len();
    if bytes != expected.bytes {
        let text = format!("has {bytes} bytes of {}", expected.bytes);
        return Err(describe(path, &text));
    }
    forget_cached(&file);
    let mut found = Sha256::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let read = file.read(&mut buffer).map_err(|error| unreadable(&error))?;
        if read == 0 {
            break;
        }
        found.update(buffer.get(..read).unwrap_or_default());
    }
    let found: Hash = found.finalize().into();
    if found == expected.hash { Ok(()) } else { Err(describe(path, "is damaged")) }
}

fn read_uncached(path: &Path) -> Result<Vec<u8>, String> {
    let unreadable = |error: &io::Error| describe(path, &missing_or(error));
    let mut file = File::open(path).map_err(|error| unreadable(&error))?;
    forget_cached(&file);
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    Ok(bytes)
}

/// Has the disk itself asked, where the bytes are on it by now.
fn forget_cached(file: &File) {
    if let Err(error) = rustix::fs::fadvise(file, 0, None, Advice::DontNeed) {
        log::trace!(error:%; "a file is read as it is cached");
    }
}

fn missing_or(error: &io::Error) -> String {
    if error.kind() == ErrorKind::NotFound {
        "is missing".to_owned()
    } else {
        format!("cannot be read, {error}")
    }
}

/// A file by its name within the backup, and what is wrong with it.
fn describe(path: &Path, fault: &str) -> String {
    let names: Vec<_> = path.components().rev().take(3).map(Component::as_os_str).collect();
    let is_frame = path.extension().is_some_and(|it| it == FRAME_ENDING);
    let shown = names.iter().take(if is_frame { 3 } else { 2 }).rev();
    let shown: PathBuf = shown.collect();
    format!("{} {fault}", shown.display())
}

fn pack_path(dir: &Path, hash: &Hash) -> PathBuf {
    dir.join(PACKS).join(format!("{}.{PACK_ENDING}", hex(hash)))
}

fn image_path(dir: &Path, ImageName { ticket, tag }: ImageName) -> PathBuf {
    let group = (ticket / IMAGES_A_DIRECTORY).to_string();
    dir.join(FRAMES).join(group).join(format!("{ticket}-{}.{FRAME_ENDING}", hex(&tag)))
}

/// Whether a file is named as we name them, or a draft of one.
fn is_ours(path: &Path) -> bool {
    let (Some(stem), Some(ending)) =
        (path.file_stem().and_then(|it| it.to_str()), path.extension().and_then(|it| it.to_str()))
    else {
        return false;
    };
    let is_hex = |text: &str, digits: usize| {
        text.len() == digits && text.bytes().all(|it| it.is_ascii_hexdigit())
    };
    let is_image = |stem: &str| {
        stem.split_once('-').is_some_and(|(ticket, tag)| {
            is_hex(tag, 16) && !ticket.is_empty() && ticket.bytes().all(|it| it.is_ascii_digit())
        })
    };
    let is_regular = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
    is_regular
        && match ending {
            PACK_ENDING => is_hex(stem, 64),
            FRAME_ENDING => is_image(stem),
            durable::DRAFT => is_hex(stem, 64) || is_image(stem),
            _ => false,
        }
}

fn is_real_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}

fn list(dir: &Path) -> Result<Vec<PathBuf>, BackupError> {
    let io = |error: io::Error| BackupError::io("list the backup in", dir, &error);
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io(error)),
    };
    entries.map(|entry| entry.map(|it| it.path()).map_err(io)).collect()
}
