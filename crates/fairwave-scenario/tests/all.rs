//! All integration tests of this crate in one program, because each further program needs a link step and 100 MB.
//!
//! A new file in this folder needs its `mod` line here; `every_file_is_part_of_this_program` checks that.

mod bare_names;
mod errors;
mod events;
mod fuzz;
mod hostile;
mod languages;
mod links;
mod load;
mod media;
mod plans;
mod remedies;
mod versions;

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
