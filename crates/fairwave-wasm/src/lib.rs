//! Fairwave for a web page: the simulator behind four exported functions. The compiler is the only tool it needs.
//!
//! The page provides one function, `fairwave.progress`. The engine calls it during a run with the simulated share of the run.
//!
//! The caller reserves room ([`reserve`]), writes a request there and calls [`call`]; the answer is then at [`answer_at`]. A request
//! has the length of its JSON (32 bits, little-endian), the JSON, and samples of speech. Answers have the same form. The module
//! [`requests`] lists all requests.
//!
//! An answer names everything that is wrong with its request. A panic (or too little memory) ends the instance: the caller starts
//! another one, and finds the panic's message in the place of the answer.
//!
//! Only this crate has code that counts as unsafe: the attributes that export functions, and the declaration of the imported one.

mod limits;
mod observer;
mod packets;
mod progress;
mod requests;
mod sessions;
mod speech;
#[cfg(test)]
mod tests;

use std::cell::RefCell;

use requests::answer;

/// The last request and the last answer.
#[derive(Default)]
struct Exchange {
    request: Vec<u8>,
    answer: Vec<u8>,
}

thread_local! {
    static EXCHANGE: RefCell<Exchange> = RefCell::default();
}

/// Reserves room for a request of `bytes` bytes and returns its address.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn reserve(bytes: usize) -> *mut u8 {
    EXCHANGE.with_borrow_mut(|exchange| {
        exchange.request = vec![0; bytes];
        exchange.request.as_mut_ptr()
    })
}

/// Answers the request in the reserved room and returns the length of the answer in bytes.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn call() -> usize {
    std::panic::set_hook(Box::new(|panic| {
        let words = panic.to_string().into_bytes();
        EXCHANGE.with(|exchange| {
            if let Ok(mut exchange) = exchange.try_borrow_mut() {
                exchange.answer = words;
            }
        });
    }));
    let request = EXCHANGE.with_borrow_mut(|exchange| {
        exchange.answer = Vec::new();
        std::mem::take(&mut exchange.request)
    });
    let answer = answer(&request);
    EXCHANGE.with_borrow_mut(|exchange| {
        exchange.answer = answer;
        exchange.answer.len()
    })
}

/// The address of the last answer; after a panic, of its message.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn answer_at() -> *const u8 {
    EXCHANGE.with_borrow(|exchange| exchange.answer.as_ptr())
}

/// The length of the last answer in bytes.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn answer_length() -> usize {
    EXCHANGE.with_borrow(|exchange| exchange.answer.len())
}
