//! Position of a value in a scenario: `flow[0].transport.name`.

use std::fmt;

/// One step from a value into it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Step {
    /// To a key of a table.
    Key(String),
    /// To an element of a list, by index from 0.
    Index(usize),
}

/// The steps from the scenario to one of its values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Path(Vec<Step>);

impl Path {
    /// The steps, outermost first.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Extends the path by a key of a table.
    pub fn key(&self, key: &str) -> Path {
        self.step(Step::Key(key.to_owned()))
    }

    /// Extends the path by an index of a list.
    pub fn index(&self, index: usize) -> Path {
        self.step(Step::Index(index))
    }

    /// Extends the path by one step.
    pub fn step(&self, step: Step) -> Path {
        let mut steps = self.0.clone();
        steps.push(step);
        Path(steps)
    }

    /// The path of the enclosing value. `None` for the whole scenario.
    pub fn parent(&self) -> Option<Path> {
        let (_, parents) = self.0.split_last()?;
        Some(Path(parents.to_vec()))
    }

    /// The last key of the path, for messages.
    pub fn last_key(&self) -> Option<&str> {
        self.0.iter().rev().find_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Index(_) => None,
        })
    }

    /// True for `other` itself and for all paths below it.
    pub fn is_within(&self, other: &Path) -> bool {
        self.0.starts_with(&other.0)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if position == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
