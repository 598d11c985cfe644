//! What items with errors expand to beside their errors: functions that accept any call, so that callers are not told that
//! the function is missing.

use super::host::ItemNames;
use crate::item::{Program, Signature};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// Stubs for all items of a program with errors.
pub(super) fn stubs(program: &Program) -> TokenStream {
    let correct = program.items.iter().map(|item| &item.signature);
    correct.chain(&program.broken).map(stub).collect()
}

fn stub(signature: &Signature) -> TokenStream {
    let name = Ident::new(&signature.name.text, signature.name.span);
    let ItemNames { marker, call, .. } = ItemNames::new(&name);
    let visibility = &signature.visibility;
    let generics = (0..signature.variables.len()).map(|n| format_ident!("A{}", n));
    let arguments = signature
        .variables
        .iter()
        .zip(generics.clone())
        .map(|(variable, ty)| {
            let argument = Ident::new(&variable.name.text, variable.name.span);
            quote!(#argument: #ty)
        });
    let gradients = signature
        .variables
        .iter()
        .map(|variable| format_ident!("grad_{}", variable.name.text));
    quote! {
        #[allow(dead_code, unused_variables, clippy::all)]
        #visibility struct #marker;
        #[allow(dead_code, unused_variables, clippy::all)]
        #visibility struct #call;
        #[allow(dead_code, unused_variables, clippy::all)]
        impl #marker {
            pub const FORMULA: &'static str = "";
            pub fn ptx() -> ::core::result::Result<&'static str, ::keops::Error> { loop {} }
        }
        #[allow(dead_code, unused_variables, clippy::all)]
        impl #call {
            pub fn on(self, _: ::keops::Backend) -> Self { self }
            pub fn on_device(self, _: usize) -> Self { self }
            pub fn accumulate(self, _: ::keops::Accumulate) -> Self { self }
            pub fn eval<R>(&self) -> ::core::result::Result<R, ::keops::Error> { loop {} }
            pub fn vjp<E, R>(&self, _: E) -> ::core::result::Result<R, ::keops::Error> { loop {} }
            pub fn value_and_vjp<E, R>(&self, _: E) -> ::core::result::Result<R, ::keops::Error> { loop {} }
            #(pub fn #gradients<E, R>(&self, _: E) -> ::core::result::Result<R, ::keops::Error> { loop {} })*
        }
        #[allow(dead_code, unused_variables, clippy::all)]
        #visibility fn #name<#(#generics),*>(#(#arguments),*) -> #call { loop {} }
    }
}
