//! Templates for names of nodes: `s{i}`, `r{i+1}`, `r{i%5}`, `r{i%5+1}`. `i` is the index of the link or flow.

/// A part of a template.
#[derive(Clone, PartialEq, Debug)]
enum Piece {
    Text(String),
    /// `(i % modulus) + offset`. Without a modulus in the text, `modulus` is `u64::MAX`.
    Number {
        modulus: u64,
        offset: u64,
    },
}

/// A name with placeholders for an index.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Template(Vec<Piece>);

impl Template {
    /// Reads a template. The error describes the mistake.
    pub fn parse(text: &str) -> Result<Template, String> {
        if text.is_empty() {
            return Err("a name must not be empty".to_owned());
        }
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((inside, behind)) = after.split_once('}') else {
                return Err(format!("the brace in `{text}` is not closed"));
            };
            pieces.push(Piece::Text(plain(text, before)?));
            pieces.push(number(inside).ok_or_else(|| {
                format!("`{{{inside}}}` is not a number of a template; write {{i}}, {{i+1}}, {{i%5}} or {{i%5+1}}")
            })?);
            rest = behind;
        }
        pieces.push(Piece::Text(plain(text, rest)?));
        Ok(Template(pieces))
    }

    /// True if the name depends on the index.
    pub fn varies(&self) -> bool {
        self.0.iter().any(|piece| matches!(piece, Piece::Number { modulus, .. } if *modulus > 1))
    }

    /// True if this template's name at index i + 1 equals `other`'s at index i: links from one to the other form a chain.
    pub fn is_followed_by(&self, other: &Template) -> bool {
        let mut steps = 0;
        let joined = self.0.len() == other.0.len()
            && self.0.iter().zip(&other.0).all(|pair| match pair {
                (Piece::Number { modulus, offset }, Piece::Number { modulus: wraps, offset: further }) => {
                    steps += u64::from(offset != further);
                    modulus == wraps && (offset == further || offset.abs_diff(*further) == 1)
                }
                (own, others) => own == others,
            });
        joined && steps == 1
    }

    /// Writes the name for `index` into `name`.
    pub fn render(&self, index: u64, name: &mut String) {
        use std::fmt::Write;
        name.clear();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => name.push_str(text),
                // Writing to a String cannot fail.
                Piece::Number { modulus, offset } => {
                    let _ = write!(name, "{}", (index % modulus).saturating_add(*offset));
                }
            }
        }
    }
}

fn number(inside: &str) -> Option<Piece> {
    let rest = inside.trim().strip_prefix('i')?;
    let (modulus, rest) = match rest.strip_prefix('%') {
        None => (u64::MAX, rest),
        Some(rest) => {
            let digits = rest.split('+').next()?;
            (digits.parse().ok().filter(|m| *m > 0)?, rest.get(digits.len()..)?)
        }
    };
    let offset = if rest.is_empty() { 0 } else { rest.strip_prefix('+')?.parse().ok()? };
    Some(Piece::Number { modulus, offset })
}

/// Accepts only letters, digits, `-` and `_`: `.`, `>` and `[` have a meaning in names of links, flows and overrides.
fn plain(whole: &str, text: &str) -> Result<String, String> {
    match text.chars().find(|c| !(c.is_alphanumeric() || matches!(c, '-' | '_'))) {
        None => Ok(text.to_owned()),
        Some(bad) => Err(format!("`{bad}` in `{whole}` cannot be part of a name; use letters, digits, `-` and `_`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(template: &str, index: u64) -> String {
        let mut name = String::new();
        Template::parse(template).expect("a template").render(index, &mut name);
        name
    }

    #[test]
    fn a_template_counts_adds_and_wraps() {
        assert_eq!(rendered("s{i}", 7), "s7");
        assert_eq!(rendered("r{i+1}", 7), "r8");
        assert_eq!(rendered("r{i%5}", 7), "r2");
        assert_eq!(rendered("r{i%5+1}-x", 7), "r3-x");
        assert_eq!(rendered("r1", 7), "r1");
    }

    #[test]
    fn templates_that_differ_by_one_make_a_chain() {
        let chained = |from, to| {
            let parse = |text| Template::parse(text).expect("a template");
            parse(from).is_followed_by(&parse(to))
        };
        assert!(chained("n{i}", "n{i+1}") && chained("n{i+5}", "n{i+4}"));
        assert!(
            !chained("s{i}", "r{i}")
                && !chained("n{i}", "n{i+100}")
                && !chained("n{i}", "r1")
                && !chained("n{i}", "n{i}")
        );
    }

    #[test]
    fn invalid_templates_are_refused_with_the_reason() {
        assert!(Template::parse("s{j}").expect_err("j").contains("{i+1}"));
        assert!(Template::parse("s{i").expect_err("open").contains("not closed"));
        assert!(Template::parse("a.b").expect_err("dot").contains("letters"));
        assert!(Template::parse("r{i%0}").is_err());
        assert!(Template::parse("").is_err());
    }
}
