//! Architecture and links of the documentation, in one program: linking many takes time and disk.

mod architecture;
mod links;
