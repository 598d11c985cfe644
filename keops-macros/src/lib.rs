//! The `keops!` macro: tokens in, [`keops_compiler::expand()`], tokens out. No logic lives here.

use proc_macro::TokenStream;

/// Declares kernel reductions as typed functions, or evaluates one in place. See the documentation of the `keops` crate.
#[proc_macro]
pub fn keops(tokens: TokenStream) -> TokenStream {
    keops_compiler::expand(tokens.into()).into()
}
