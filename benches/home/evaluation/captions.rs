//! Whose captions a memory is given: true ones, those of the configured captioner, or
//! those in a file of any captioner.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context as _, bail};
use serde::Deserialize;

use super::household::{Household, lines_of};
use engram::base::caption::Caption;

/// As `--captions` names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Captions {
    /// True ones.
    Oracle,
    /// Of the configured captioner, which sees the images.
    Model,
    /// Of lines as `engram caption --json` prints them.
    File(PathBuf),
}

impl FromStr for Captions {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "oracle" => Self::Oracle,
            "model" => Self::Model,
            file => Self::File(PathBuf::from(file)),
        })
    }
}

impl Captions {
    pub(super) fn are_true(&self) -> bool {
        *self == Self::Oracle
    }

    /// Whose they are, as the report names them; the daemon's captioner is `configured`.
    pub(super) fn name(&self, configured: String) -> Option<String> {
        match self {
            Self::Oracle => None,
            Self::Model => Some(configured),
            Self::File(path) => Some(path.display().to_string()),
        }
    }

    /// A caption for each frame of a household; `None` where its images are captioned
    /// as they come.
    pub(super) fn of(&self, household: &Household) -> anyhow::Result<Option<Vec<Caption>>> {
        match self {
            Self::Oracle => Ok(Some(true_ones(household))),
            Self::Model => Ok(None),
            Self::File(path) => read(path, household).map(Some),
        }
    }
}

pub(super) fn true_ones(household: &Household) -> Vec<Caption> {
    household.frames.iter().map(|frame| Caption::without_confidence(&frame.caption)).collect()
}

#[derive(Deserialize)]
struct Line {
    file: PathBuf,
    #[serde(default)]
    caption: Option<String>,
    #[serde(default)]
    confidence: Option<f32>,
}

/// A frame's line is the one whose path ends as the frame's does.
fn read(path: &Path, household: &Household) -> anyhow::Result<Vec<Caption>> {
    let lines: Vec<Line> = lines_of(path)?;
    let named = |line: &Line| line.file.file_name().map(ToOwned::to_owned);
    let mut by_name: BTreeMap<_, Vec<&Line>> = BTreeMap::new();
    for line in &lines {
        by_name.entry(named(line)).or_default().push(line);
    }
    let caption = |file: &str| {
        let alike = by_name.get(&Path::new(file).file_name().map(ToOwned::to_owned));
        let mut own = alike.into_iter().flatten().filter(|line| line.file.ends_with(file));
        match (own.next(), own.next()) {
            (Some(Line { caption: Some(text), confidence, .. }), None) => {
                Ok(Caption { confidence: *confidence, ..Caption::without_confidence(text) })
            }
            (Some(_), None) => bail!("{} has no caption of {file}", path.display()),
            (None, _) => bail!("{} has no line of {file}", path.display()),
            (Some(_), Some(_)) => bail!("{} has several lines of {file}", path.display()),
        }
    };
    let captions = household.frames.iter().map(|frame| caption(&frame.file));
    captions.collect::<anyhow::Result<_>>().context(
        "--captions is neither oracle nor model, so it names a file as engram caption --json \
         prints it of the household's images",
    )
}
