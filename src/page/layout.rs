//! The frame around each view: head, navigation, the one script and the one style.

use crate::page::assets::ADDRESSES;
use crate::page::html::{Html, html};
use crate::page::request::Request;

/// Which view the navigation marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tab {
    Timeline,
    Search,
    Map,
    Kept,
    Forget,
    Health,
    None,
}

const TABS: [(Tab, &str, &str); 6] = [
    (Tab::Timeline, "/", "Timeline"),
    (Tab::Search, "/search", "Search"),
    (Tab::Map, "/map", "Map"),
    (Tab::Kept, "/kept", "Kept"),
    (Tab::Forget, "/forget", "Forget"),
    (Tab::Health, "/health", "Health"),
];

/// A whole document around a view.
pub(crate) fn layout(tab: Tab, title: &str, main: &Html) -> Html {
    let tabs: Html = TABS
        .iter()
        .map(|(each, link, name)| {
            if *each == tab {
                html!("<a href=\"{}\" aria-current=\"page\">{}</a>", link, name)
            } else {
                html!("<a href=\"{}\">{}</a>", link, name)
            }
        })
        .collect();
    html!(
        "<!doctype html>\
         <html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <title>{} · engram</title>\
         <link rel=\"icon\" href=\"{}\" type=\"image/svg+xml\">\
         <link rel=\"stylesheet\" href=\"{}\">\
         <script src=\"{}\" defer></script></head>\
         <body><a class=\"skip\" href=\"#main\">Skip to content</a>\
         <header class=\"top\"><a class=\"brand\" href=\"/\"><img src=\"{}\" alt=\"\" width=\"22\" \
         height=\"22\">engram</a><nav aria-label=\"Views\">{}</nav>\
         <button type=\"button\" class=\"quiet\" id=\"theme\" title=\"Dark or light (t)\" \
         aria-label=\"Dark or light\" hidden>◐</button>\
         <button type=\"button\" class=\"quiet\" id=\"help\" title=\"Keys (?)\" \
         aria-label=\"Keys\" hidden>?</button></header>\
         <main id=\"main\" tabindex=\"-1\">{}</main>\
         <div id=\"status\" role=\"status\" class=\"status\"></div></body></html>",
        title,
        ADDRESSES.icon,
        ADDRESSES.style,
        ADDRESSES.script,
        ADDRESSES.icon,
        tabs,
        main
    )
}

/// Whether the script asks for a view's inside alone, to put it into the page that is there.
pub(crate) fn is_part(request: &Request) -> bool {
    request.header("x-part") == Some("1")
}

/// A view as it was asked for: whole, or its inside alone.
pub(crate) fn page_or_part(request: &Request, tab: Tab, title: &str, main: Html) -> Html {
    if is_part(request) { main } else { layout(tab, title, &main) }
}
