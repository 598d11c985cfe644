//! What an item is generic over, and its constants, which are not statics where it has const parameters.

use super::compiled::Compiled;
use super::host::ident;
use crate::emit::ValueTypes;
use proc_macro2::{Ident, TokenStream};
use quote::quote;

/// What the item's types are generic over, each with a comma at the end: `T: k::Float, const D: usize,` as declared, and
/// `T, D,` as used; nothing where the value type and the dimensions are fixed.
pub(super) fn generics(item: &Compiled) -> (TokenStream, TokenStream) {
    let (constants, names) = dimensions(item);
    match item.types {
        ValueTypes::Generic => (quote!(T: k::Float, #constants), quote!(T, #names)),
        _ => (constants, names),
    }
}

/// The same without const parameters, for types of fields that are arrays of any number of columns.
pub(super) fn value_type(item: &Compiled) -> (TokenStream, TokenStream) {
    match item.types {
        ValueTypes::Generic => (quote!(T: k::Float,), quote!(T,)),
        _ => (quote!(), quote!()),
    }
}

/// The const parameters, as declared and as used.
pub(super) fn dimensions(item: &Compiled) -> (TokenStream, TokenStream) {
    let names: Vec<Ident> = item.dimensions.iter().map(|d| ident(d)).collect();
    (quote!(#(const #names: usize,)*), quote!(#(#names,)*))
}

/// A constant of an item as a static; where the item has const parameters, which statics cannot have, as a constant of a
/// type of this name. [`reference`] is how it is used.
pub(super) fn constant(
    item: &Compiled,
    name: &str,
    ty: &TokenStream,
    value: &TokenStream,
) -> TokenStream {
    let name = ident(name);
    if item.dimensions.is_empty() {
        return quote!(static #name: #ty = #value;);
    }
    let (declared, used) = dimensions(item);
    quote! {
        struct #name<#declared>;
        impl<#declared> #name<#used> {
            const VALUE: #ty = #value;
        }
    }
}

/// A [`constant`], as it is named in constants.
pub(super) fn value(item: &Compiled, name: &str) -> TokenStream {
    let name = ident(name);
    if item.dimensions.is_empty() {
        return quote!(#name);
    }
    let (_, used) = dimensions(item);
    quote!(#name::<#used>::VALUE)
}

/// A `&'static` to a [`constant`].
pub(super) fn reference(item: &Compiled, name: &str) -> TokenStream {
    let value = value(item, name);
    if item.dimensions.is_empty() {
        quote!(&#value)
    } else {
        quote!(const { &#value })
    }
}
