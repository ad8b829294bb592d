//! What a process says on its terminal, understood: bytes become lines as a person would read them, lines that belong
//! together become one message, and a message has a level and places in code. All of it is pure; time comes in.

mod behind;
mod channels;
mod frames;
mod level;
mod message;
mod plain;
#[cfg(test)]
mod samples;
mod structured;

pub use channels::Channels;
pub use message::Message;
pub use plain::Lines;
