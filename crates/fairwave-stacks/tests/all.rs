//! Stacks in complete simulator runs.

mod failing;
#[cfg(feature = "goog-cc")]
mod goog_cc;
mod own_stack;
#[cfg(feature = "quinn")]
mod quinn;
#[cfg(feature = "str0m")]
mod str0m;

#[test]
fn the_page_shows_the_example_which_has_under_100_lines() {
    let example = include_str!("own_stack.rs");
    assert!(example.lines().count() < 100);
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/stacks.md")).expect("the page");
    let stack = example.split_once("/// One end.").and_then(|(_, rest)| rest.split_once("#[test]"));
    let (stack, _) = stack.expect("the stack, then its test");
    assert!(page.contains(&format!("/// One end.{}\n```", stack.trim_end())), "docs/stacks.md shows another stack");
}
