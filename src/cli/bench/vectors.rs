//! Files of vectors as benchmarks of nearest neighbours keep them.
//!
//! `.fvecs` and `.ivecs`: of each vector its number of components (i32), then those
//! (f32 or i32), little-endian. Anything else: f32 and nothing between them.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};

use crate::base::embedding::Embedding;

/// Most components of a vector.
const DIMENSION_MAX: usize = 1 << 16;

/// File of vectors of one dimension.
#[derive(Debug)]
pub(super) struct Vectors {
    path: PathBuf,
    dimension: usize,
    len: usize,
    /// Whether each is preceded by its number of components.
    is_framed: bool,
}

impl Vectors {
    /// Reads a file's size and first vector. `dimension` is needed where the file
    /// does not say it, and must be the same where it does; of more than `most`
    /// vectors, the first ones are taken.
    pub(super) fn open(
        path: &Path,
        dimension: Option<usize>,
        most: Option<usize>,
    ) -> anyhow::Result<Self> {
        let shown = path.display();
        let is_framed = path.extension() == Some(OsStr::new("fvecs"));
        let bytes = size(path)?;
        let dimension = match (is_framed, dimension) {
            (true, stated) => {
                let found = first_length(path, bytes)?;
                ensure!(
                    stated.is_none_or(|stated| stated == found),
                    "{shown} has vectors of {found} components, --dim says {}",
                    stated.unwrap_or_default(),
                );
                found
            }
            (false, Some(stated)) => stated,
            (false, None) => {
                bail!("{shown} is no .fvecs: say with --dim how many components its vectors have")
            }
        };
        ensure!(
            (1..=DIMENSION_MAX).contains(&dimension),
            "{shown} has vectors of {dimension} components, accepted are 1 to {DIMENSION_MAX}"
        );
        let each = (dimension * 4 + if is_framed { 4 } else { 0 }) as u64;
        ensure!(
            bytes.is_multiple_of(each),
            "{shown} has {bytes} bytes, which are not whole vectors of {each} bytes"
        );
        let held = usize::try_from(bytes / each)?;
        let len = most.map_or(held, |most| most.min(held));
        ensure!(len > 0, "{shown} holds no vector");
        Ok(Self { path: path.to_owned(), dimension, len, is_framed })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Vectors, scaled to unit length.
    pub(super) fn read(&self) -> anyhow::Result<impl Iterator<Item = anyhow::Result<Embedding>>> {
        let mut file = BufReader::with_capacity(1 << 18, open_file(&self.path)?);
        let head = if self.is_framed { 4 } else { 0 };
        let mut bytes = vec![0; head + self.dimension * 4];
        Ok((0..self.len).map(move |at| {
            let shown = self.path.display();
            file.read_exact(&mut bytes).with_context(|| format!("{shown} cannot be read"))?;
            let (numbers, _) = bytes.as_chunks::<4>();
            let (head, components) = numbers.split_at(head / 4);
            if let Some(head) = head.first() {
                let found = i32::from_le_bytes(*head);
                ensure!(
                    usize::try_from(found) == Ok(self.dimension),
                    "vector {at} of {shown} has {found} components, the first has {}",
                    self.dimension,
                );
            }
            let raw = components.iter().map(|it| f32::from_le_bytes(*it)).collect();
            Embedding::new(raw, self.dimension).with_context(|| format!("vector {at} of {shown}"))
        }))
    }
}

/// Numbers of the nearest vectors of each query, nearest first.
#[derive(Debug)]
pub(super) struct Neighbours {
    each: usize,
    ids: Vec<i32>,
}

impl Neighbours {
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let bytes = size(path)?;
        let each = first_length(path, bytes)?;
        ensure!(
            (1..=DIMENSION_MAX).contains(&each) && bytes.is_multiple_of(each as u64 * 4 + 4),
            "{shown} is no .ivecs: {bytes} bytes are not whole lists of {each} neighbours"
        );
        let bytes = fs::read(path).with_context(|| format!("{shown} cannot be read"))?;
        let (numbers, _) = bytes.as_chunks::<4>();
        let numbers: Vec<i32> = numbers.iter().map(|it| i32::from_le_bytes(*it)).collect();
        let mut ids = Vec::with_capacity(numbers.len());
        for (at, list) in numbers.chunks(each + 1).enumerate() {
            let (found, list) = list.split_first().context("an empty list")?;
            ensure!(
                usize::try_from(*found) == Ok(each),
                "list {at} of {shown} has {found} neighbours, the first has {each}"
            );
            ids.extend_from_slice(list);
        }
        Ok(Self { each, ids })
    }

    /// Number of queries.
    pub(super) fn len(&self) -> usize {
        self.ids.len() / self.each
    }

    /// Number of neighbours of each query.
    pub(super) fn each(&self) -> usize {
        self.each
    }

    /// Nearest `n` of a query.
    pub(super) fn of(&self, query: usize, n: usize) -> &[i32] {
        let start = query * self.each;
        self.ids.get(start..start + n.min(self.each)).unwrap_or_default()
    }
}

fn open_file(path: &Path) -> anyhow::Result<File> {
    File::open(path).with_context(|| format!("{} cannot be opened", path.display()))
}

fn size(path: &Path) -> anyhow::Result<u64> {
    let file = open_file(path)?.metadata()?;
    ensure!(file.is_file(), "{} is no file", path.display());
    Ok(file.len())
}

fn first_length(path: &Path, bytes: u64) -> anyhow::Result<usize> {
    let shown = path.display();
    ensure!(bytes >= 4, "{shown} holds no vector");
    let mut head = [0; 4];
    open_file(path)?.read_exact(&mut head).with_context(|| format!("{shown} cannot be read"))?;
    let found = i32::from_le_bytes(head);
    usize::try_from(found)
        .ok()
        .filter(|found| (1..=DIMENSION_MAX).contains(found))
        .with_context(|| format!("{shown} begins with a vector of {found} components, accepted are 1 to {DIMENSION_MAX}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, numbers: &[[u8; 4]]) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        fs::write(&path, numbers.as_flattened()).unwrap();
        (directory, path)
    }

    fn int(it: i32) -> [u8; 4] {
        it.to_le_bytes()
    }

    fn float(it: f32) -> [u8; 4] {
        it.to_le_bytes()
    }

    fn refuse(vectors: anyhow::Result<Vectors>) -> String {
        let error = match vectors {
            Err(error) => error,
            Ok(vectors) => vectors.read().unwrap().find_map(Result::err).unwrap(),
        };
        format!("{error:#}")
    }

    #[test]
    fn both_forms_hold_the_same_vectors() {
        let framed = [int(2), float(3.0), float(4.0), int(2), float(0.0), float(-1.0)];
        let (_framed, framed) = file("a.fvecs", &framed);
        let (_raw, raw) = file("a.bin", &[float(3.0), float(4.0), float(0.0), float(-1.0)]);
        for vectors in [Vectors::open(&framed, None, None), Vectors::open(&raw, Some(2), None)] {
            let vectors = vectors.unwrap();
            assert_eq!((vectors.len(), vectors.dimension()), (2, 2));
            let read: Vec<Embedding> = vectors.read().unwrap().map(Result::unwrap).collect();
            assert_eq!(read[0].as_slice(), [0.6, 0.8]);
            assert_eq!(read[1].as_slice(), [0.0, -1.0]);
        }
        assert_eq!(Vectors::open(&raw, Some(2), Some(1)).unwrap().len(), 1);
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let check = |name: &str, numbers: &[[u8; 4]], dim: Option<usize>, expect: &str| {
            let (_directory, path) = file(name, numbers);
            let said = refuse(Vectors::open(&path, dim, None));
            assert!(said.contains(expect), "{said}");
        };
        check("a.bin", &[float(1.0)], None, "say with --dim");
        check("a.bin", &[float(1.0); 3], Some(2), "12 bytes, which are not whole vectors of 8");
        check("a.bin", &[], Some(2), "holds no vector");
        check("a.bin", &[float(1.0)], Some(0), "accepted are 1 to 65536");
        check("a.fvecs", &[], None, "holds no vector");
        check("a.fvecs", &[int(-7), float(1.0)], None, "a vector of -7 components");
        check("a.fvecs", &[int(1), float(1.0)], Some(3), "--dim says 3");
        check("a.fvecs", &[int(2), float(1.0)], None, "not whole vectors of 12");
        let uneven = [int(1), float(1.0), int(2), float(1.0)];
        check("a.fvecs", &uneven, None, "vector 1");
        check("a.fvecs", &[int(1), float(f32::NAN)], None, "component 0");
        check("a.fvecs", &[int(1), float(0.0)], None, "length zero");
        let nowhere = Vectors::open(Path::new("/nowhere/a.fvecs"), None, None);
        assert!(refuse(nowhere).contains("/nowhere/a.fvecs cannot be opened"));
    }

    #[test]
    fn neighbours_are_lists_of_one_length() {
        let (_directory, path) = file("a.ivecs", &[2, 8, 9, 2, 5, 4].map(int));
        let neighbours = Neighbours::read(&path).unwrap();
        assert_eq!((neighbours.len(), neighbours.each()), (2, 2));
        assert_eq!((neighbours.of(1, 1), neighbours.of(1, 9)), (&[5][..], &[5, 4][..]));
        let (_directory, path) = file("a.ivecs", &[2, 8, 9, 1, 5, 4].map(int));
        let error = Neighbours::read(&path).unwrap_err().to_string();
        assert!(error.contains("list 1"), "{error}");
        let (_directory, path) = file("a.ivecs", &[2, 8].map(int));
        Neighbours::read(&path).unwrap_err();
    }
}
