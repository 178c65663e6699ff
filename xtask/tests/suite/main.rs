//! Architecture, links of the documentation and experiments, in one program: linking many takes time and disk.

mod architecture;
mod links;
mod reproduce;
