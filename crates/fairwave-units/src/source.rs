//! Lines of the source code, so that reports can name the code that decided. The compiler finds the lines, so they follow
//! every edit.

/// A line of a source file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceLine {
    /// Path from the root of the repository.
    pub file: &'static str,
    /// Line number, from 1. 0 if the file has no such line.
    pub line: u32,
}

impl SourceLine {
    /// Returns the first line of `text`, the contents of `file`, that contains each of the patterns.
    pub const fn find<const N: usize>(file: &'static str, text: &str, patterns: [&str; N]) -> [SourceLine; N] {
        let mut found = [SourceLine { file, line: 0 }; N];
        let mut index = 0;
        while index < N {
            found[index].line = first_line(text.as_bytes(), patterns[index].as_bytes());
            index += 1;
        }
        found
    }
}

const fn first_line(text: &[u8], pattern: &[u8]) -> u32 {
    let (mut line, mut at) = (1, 0);
    while at + pattern.len() <= text.len() {
        let mut equal = 0;
        while equal < pattern.len() && text[at + equal] == pattern[equal] {
            equal += 1;
        }
        if equal == pattern.len() {
            return line;
        }
        if text[at] == b'\n' {
            line += 1;
        }
        at += 1;
    }
    0
}

/// Defines the method `source_lines` of a family's enum: the lines of the laws' files that contain the patterns.
/// `list! { sources! (Config, "crates/…/folder/", ["fn decide(", …]) }` with the family's list.
#[macro_export]
macro_rules! sources {
    (($Config:ident, $folder:literal, $patterns:expr) $($file:ident { $($Variant:ident($Law:ident)),+ $(,)? })+) => {
        impl $Config {
            /// Lines of the law's file with the functions that decide, in the order of the family's patterns. Empty for
            /// registered laws.
            pub fn source_lines(&self) -> &'static [$crate::source::SourceLine] {
                match self {
                    $($($Config::$Variant(_))|+ => const {
                        &$crate::source::SourceLine::find(
                            concat!($folder, stringify!($file), ".rs"),
                            include_str!(concat!(stringify!($file), ".rs")),
                            $patterns,
                        )
                    },)+
                    $Config::Registered(_) => &[],
                }
            }
        }
    };
}
pub use crate::sources;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_their_first_match() {
        let text = "one\n  fn two(\n// fn two(\n";
        let [two, none] = SourceLine::find("file.rs", text, ["fn two(", "fn three("]);
        assert_eq!((two, none.line), (SourceLine { file: "file.rs", line: 2 }, 0));
    }
}
