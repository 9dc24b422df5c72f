//! How a language model's reply names a tool.
//!
//! Plain data. What a reply looks like stands in `agent::reply`.

/// The form in which a reply calls a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Action {
    pub(crate) role: AgentRole,
    /// What a bare text in the reply's `tool_input` means.
    pub(crate) text: TextInput,
    /// Arguments for the start and the end of a window.
    pub(crate) window: Option<[&'static str; 2]>,
}

/// Which of the two agents a tool belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentRole {
    ObjectRetrieval,
    MomentRetrieval,
}

/// Meaning of a bare text in a reply's `tool_input`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextInput {
    Argument(&'static str),
    RecordIds,
    /// The tool works on the newest recall by itself.
    Nothing,
}

/// The arguments that give most tools their window of time.
pub(crate) const SEARCH_WINDOW: [&str; 2] = ["search_start_time", "search_end_time"];

impl Action {
    /// A step towards an object, without a window.
    pub(crate) const fn object(text: TextInput) -> Self {
        Self { role: AgentRole::ObjectRetrieval, text, window: None }
    }

    /// A step towards the moments that show something, without a window.
    pub(crate) const fn moment(text: TextInput) -> Self {
        Self { role: AgentRole::MomentRetrieval, text, window: None }
    }

    /// The same with a window of time under these two names.
    pub(crate) const fn within(self, window: [&'static str; 2]) -> Self {
        Self { window: Some(window), ..self }
    }
}
