//! The real `backsight serve`: every operation of its API, what it refuses, its events, and referees from outside.

mod alike;
mod api;
mod browser;
pub mod debug;
mod errors;
mod events;
mod paths;
mod referees;
mod schema;
pub mod server;
pub mod site;
mod snippet;
mod tokens;
mod tools;
mod twins;
