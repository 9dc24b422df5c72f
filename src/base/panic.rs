//! Message of a caught panic.

use std::any::Any;

/// What `panic!` was called with, for logs and errors.
pub fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let formatted = panic.downcast_ref::<String>().map(String::as_str);
    formatted
        .or_else(|| panic.downcast_ref::<&'static str>().copied())
        .unwrap_or("with a value that is no text")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{catch_unwind, panic_any};

    #[test]
    fn formatted_and_constant_messages_are_shown_and_other_values_are_named() {
        let text = |call: fn()| panic_text(catch_unwind(call).unwrap_err().as_ref()).to_owned();
        assert_eq!(text(|| panic!("row {}", 7)), "row 7");
        assert_eq!(text(|| panic!("no row")), "no row");
        assert_eq!(text(|| panic_any(7)), "with a value that is no text");
    }
}
