//! What items with errors expand to: the names of right items, whose types are erroneous themselves, so that callers are not
//! told of mistakes that are not theirs.
//!
//! The errors are the value of a constant, and a call is an array of that length. Such a type is erroneous to rustc, which has
//! said so once and reports nothing that follows from it: a call has every method, and its results are of every type.
//! Invariant: arguments are of any type, since what they are declared as may be the mistake.

use super::host::ItemNames;
use crate::item::{Program, Scalar, Signature};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use std::collections::BTreeSet;

/// Stubs for all items of a program with errors, and the errors.
pub(super) fn stubs(program: &Program, errors: &TokenStream) -> TokenStream {
    let correct = program.items.iter().map(|item| &item.signature);
    let mut names = BTreeSet::new();
    let signatures: Vec<&Signature> = correct
        .chain(&program.broken)
        .filter(|signature| names.insert(&signature.name.text))
        .collect();
    let Some(first) = signatures.first() else {
        return errors.clone();
    };
    let name = Ident::new(&first.name.text, first.name.span);
    let first = ItemNames::new(&name).module;
    let stubs = signatures.iter().enumerate().map(|(number, signature)| {
        let broken = if number == 0 {
            quote!(pub const BROKEN: usize = { #errors 0 };)
        } else {
            quote!(use super::#first::BROKEN;)
        };
        stub(signature, &broken)
    });
    stubs.collect()
}

fn stub(signature: &Signature, broken: &TokenStream) -> TokenStream {
    let name = Ident::new(&signature.name.text, signature.name.span);
    let ItemNames {
        module,
        marker,
        call,
        gradient,
        tangent,
        device_tangent,
    } = ItemNames::new(&name);
    let visibility = &signature.visibility;
    // Parameters have a comma behind each.
    let value = match &signature.scalar {
        Scalar::Generic(_) => quote!(T,),
        Scalar::F32 | Scalar::F64 => quote!(),
    };
    let dimensions: Vec<Ident> = signature
        .dimensions
        .iter()
        .map(|d| Ident::new(&d.text, d.span))
        .collect();
    let constants = quote!(#(const #dimensions: usize,)*);
    let fields: Vec<Ident> = signature
        .variables
        .iter()
        .map(|v| Ident::new(&v.name.text, v.name.span))
        .collect();
    let lengths = quote!(#([(); #dimensions],)*);
    let tangents = [tangent, device_tangent].into_iter().map(|tangent| {
        quote! {
            pub struct #tangent<'t, #value> {
                #(pub #fields: [(); BROKEN],)*
                pub marker: PhantomData<(&'t (), #value)>,
            }
            impl<#value> Default for #tangent<'_, #value> {
                fn default() -> Self { loop {} }
            }
        }
    });
    quote! {
        #[allow(dead_code, unused, non_snake_case, non_camel_case_types, unreachable_pub, clippy::all, clippy::pedantic)]
        mod #module {
            #broken
            pub struct #marker;
            impl #marker {
                pub const FORMULA: &'static str = "";
                pub fn ptx<#constants>() -> [(); BROKEN] { loop {} }
            }
            pub fn #name<#value #constants>(#(#fields: impl Sized),*) -> [(); BROKEN] { loop {} }
            pub mod types {
                use super::BROKEN;
                use ::core::marker::PhantomData;
                pub type #call<'a, #value #constants P = ()> = [(&'a (), #value #lengths P); BROKEN];
                pub struct #gradient<#value P = ()> {
                    #(pub #fields: [(); BROKEN],)*
                    pub marker: PhantomData<(#value P,)>,
                }
                #(#tangents)*
            }
        }
        #[allow(unused_imports)]
        #visibility use #module::{#name, #marker};
        #[allow(unused_imports)]
        #visibility use #module::types::*;
    }
}
