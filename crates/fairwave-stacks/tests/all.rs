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
fn the_page_links_the_example_which_has_under_100_lines() {
    let example = include_str!("own_stack.rs");
    assert!(example.lines().count() < 100);
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/stacks.md")).expect("the page");
    assert!(page.contains("](../crates/fairwave-stacks/tests/own_stack.rs)"), "docs/stacks.md links no example");
}
