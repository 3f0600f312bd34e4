//! fairwave for a web page: the crates of the simulator behind four exported functions, without any tool but the compiler.
//!
//! Whoever calls asks for room ([`reserve`]), writes a request there and calls ([`call`]); the answer then lies at [`answer_at`].
//! A request begins with the length of its JSON (32 bits, little-endian), the JSON, and what else it brings: samples of speech.
//! Answers have the same form. What can be asked stands in [`asked`].
//!
//! Everything that can be wrong with a request is said in the answer. A panic (or memory that runs out) ends the instance, whose
//! caller starts another; what the panic said lies where an answer would.
//!
//! This is the only crate with code that counts as unsafe, and only for the attributes by which functions are exported.

mod asked;
mod observer;
mod packets;
mod speech;
#[cfg(test)]
mod tests;

use std::cell::RefCell;

use asked::answer;

/// What is between caller and called.
#[derive(Default)]
struct Desk {
    request: Vec<u8>,
    answer: Vec<u8>,
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
}

/// Makes room for a request of so many bytes and answers where it is.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn reserve(bytes: usize) -> *mut u8 {
    DESK.with_borrow_mut(|desk| {
        desk.request = vec![0; bytes];
        desk.request.as_mut_ptr()
    })
}

/// Answers the request that was written into the room made last, and says how long the answer is.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn call() -> usize {
    std::panic::set_hook(Box::new(|panic| {
        let words = panic.to_string().into_bytes();
        DESK.with(|desk| {
            if let Ok(mut desk) = desk.try_borrow_mut() {
                desk.answer = words;
            }
        });
    }));
    let request = DESK.with_borrow_mut(|desk| {
        desk.answer = Vec::new();
        std::mem::take(&mut desk.request)
    });
    let answer = answer(&request);
    DESK.with_borrow_mut(|desk| {
        desk.answer = answer;
        desk.answer.len()
    })
}

/// Where the answer is that was made last; after a panic, what it said.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn answer_at() -> *const u8 {
    DESK.with_borrow(|desk| desk.answer.as_ptr())
}

/// How long it is.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn answer_length() -> usize {
    DESK.with_borrow(|desk| desk.answer.len())
}
