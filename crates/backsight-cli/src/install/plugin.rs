//! The plugin directory, written from the same pieces as `install`, so that both say the same.
