//! The browser lane through its public boundary.

mod corpus;
