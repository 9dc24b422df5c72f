//! Templates of the prompts directories, by name.

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use crate::tools::args::argument_error;
use crate::tools::{ToolError, rooted};

/// Longest template.
pub(crate) const TEMPLATE_BYTES_MAX: usize = 64 << 10;

/// The template of this name in the first directory that has it.
pub(crate) fn read(dirs: &[PathBuf], name: &str) -> Result<String, ToolError> {
    let refusal = |reason: String| {
        argument_error(format!(
            "argument \"file\" is {name:?}: {reason}; accepted is the name of a text file of at \
             most {TEMPLATE_BYTES_MAX} bytes in the prompts directory"
        ))
    };
    // Whoever may call is not thereby allowed to read the daemon's whole disk.
    let is_plain = |part| matches!(part, Component::Normal(_));
    if !Path::new(name).components().all(is_plain) {
        return Err(refusal("a path that leads elsewhere".to_owned()));
    }
    let paths: Vec<PathBuf> = dirs.iter().map(|dir| dir.join(name)).collect();
    let Some(path) = paths.iter().find(|path| path.is_file()) else {
        let looked: Vec<String> = dirs.iter().map(|dir| dir.display().to_string()).collect();
        return Err(refusal(format!("no such file in {}", looked.join(", "))));
    };
    let mut bytes = Vec::new();
    let limit = TEMPLATE_BYTES_MAX as u64 + 1;
    // A link may lead out of the directory.
    let file = rooted::open(dirs, path).map_err(refusal)?;
    file.take(limit).read_to_end(&mut bytes).map_err(|error| refusal(error.to_string()))?;
    if bytes.len() > TEMPLATE_BYTES_MAX {
        return Err(refusal("the file is larger".to_owned()));
    }
    String::from_utf8(bytes).map_err(|error| refusal(format!("no UTF-8 text ({error})")))
}
