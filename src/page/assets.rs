//! The files that the program carries, under addresses that change with what is in them.

use std::sync::LazyLock;

use sha2::{Digest as _, Sha256};

use crate::page::response::Response;

const STYLE: &str = include_str!("assets/page.css");
const SCRIPT: &str = include_str!("assets/page.js");
const ICON: &str = include_str!("assets/icon.svg");

/// Addresses of the style, the script and the icon.
pub(crate) struct Addresses {
    pub(crate) style: String,
    pub(crate) script: String,
    pub(crate) icon: String,
}

pub(crate) static ADDRESSES: LazyLock<Addresses> = LazyLock::new(|| Addresses {
    style: address("page.css", STYLE),
    script: address("page.js", SCRIPT),
    icon: address("icon.svg", ICON),
});

/// The asset at an address.
pub(crate) fn find(path: &str) -> Option<Response> {
    let Addresses { style, script, icon } = &*ADDRESSES;
    let (content_type, text) = if path == style {
        ("text/css; charset=utf-8", STYLE)
    } else if path == script {
        ("text/javascript; charset=utf-8", SCRIPT)
    } else if path == icon || path == "/favicon.ico" {
        ("image/svg+xml", ICON)
    } else {
        return None;
    };
    Some(Response::asset(content_type, text.as_bytes()))
}

fn address(name: &str, text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let short: Vec<String> = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let short = short.concat();
    format!("/assets/{short}/{name}")
}
