//! Checks of the architecture and of links in the documentation, in one program, because linking many takes time and
//! disk space.

mod architecture;
mod links;
