//! All tests of this crate from outside, as one program. A program per file costs a link and 100 MB each.
//!
//! A new file in this folder needs its `mod` line here; `every_file_is_part_of_this_program` checks that.

mod applications;
mod classes;
mod conference;
mod datagrams;
mod events;
mod exact_rates;
mod fates;
mod flows;
mod fuzz;
mod golden;
mod hosts;
mod islands;
mod marks;
mod media;
mod own_laws;
mod phases;
mod reference_ns2;
mod schedule;
mod stepped;
mod support;
mod today;
mod video;
mod window;
mod wires;

#[test]
fn every_file_is_part_of_this_program() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for entry in std::fs::read_dir(folder).expect("the folder of tests") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if path.extension().is_some_and(|extension| extension == "rs") && name != "all" {
            assert!(include_str!("all.rs").contains(&format!("\nmod {name};\n")), "add `mod {name};` to tests/all.rs");
        }
    }
}
