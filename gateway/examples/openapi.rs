//! Prints the OpenAPI document as the handlers describe it: `cargo xtask openapi` keeps it.

fn main() {
    print!("{}", ledge_gateway::openapi());
}
