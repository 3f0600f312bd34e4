//! Fairwave for a web page: the simulator with four exported functions. A build needs only the compiler.
//!
//! The page provides one function, `fairwave.progress`. During a run, the engine reports the simulated share of the run to it.
//!
//! The caller reserves memory ([`reserve`]), writes a request there and calls [`call`]. The reply is then at [`answer_at`]. A
//! request has the length of its JSON (32 bits, little-endian), the JSON, and samples of speech. Replies have the same form. The
//! module `requests` lists all requests.
//!
//! A reply names every mistake in its request. A panic (or too little memory) ends the instance. The caller then starts another
//! instance, and finds the panic's message in place of the reply.
//!
//! Only this crate has code that counts as unsafe: attributes for exported functions, and the declaration of the imported function.

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

/// The last request and the last reply.
#[derive(Default)]
struct Exchange {
    request: Vec<u8>,
    answer: Vec<u8>,
}

thread_local! {
    static EXCHANGE: RefCell<Exchange> = RefCell::default();
}

/// Reserves memory for a request of `bytes` bytes and returns its address.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn reserve(bytes: usize) -> *mut u8 {
    EXCHANGE.with_borrow_mut(|exchange| {
        exchange.request = vec![0; bytes];
        exchange.request.as_mut_ptr()
    })
}

/// Processes the request in the reserved memory and returns the length of the reply in bytes.
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

/// The address of the last reply. After a panic, the address of its message.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn answer_at() -> *const u8 {
    EXCHANGE.with_borrow(|exchange| exchange.answer.as_ptr())
}

/// The length of the last reply in bytes.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn answer_length() -> usize {
    EXCHANGE.with_borrow(|exchange| exchange.answer.len())
}
