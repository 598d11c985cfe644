//! An item without its call type: a module with its kernels and one function per way to run it, for programs that run
//! thousands of formulas and are to compile fast.
//!
//! The module's parent has the runtime's private names as `k`.

use super::compiled::{Compiled, Role};
use super::host::{kernels, types};
use super::parameters::constant;
use super::plan::{code, function_static, passes};
use proc_macro2::TokenStream;
use quote::quote;

/// The item with its formula and fused derivative only.
pub(super) fn item(mut item: Compiled) -> Compiled {
    item.functions
        .retain(|f| matches!(f.role, Role::Eval | Role::Vjp));
    item
}

/// The module, named like the item: `eval()` and, where there is a derivative, `vjp()`, each with the function's code.
///
/// The item has one value type and no const parameters.
pub(super) fn module(whole: Compiled, ptx: &Result<String, String>) -> TokenStream {
    let item = item(whole);
    let (name, kernels, types) = (&item.name, kernels(&item), types(&item));
    let ptx = match ptx {
        Ok(text) => quote!(Ok(#text)),
        Err(reason) => quote!(Err(#reason)),
    };
    let functions = item.functions.iter().map(|f| {
        let is_vjp = f.role == Role::Vjp;
        let method = if is_vjp { quote!(vjp) } else { quote!(eval) };
        let passes = is_vjp
            .then(|| constant(&item, "VJP_PASSES", &quote!(&[k::Pass]), &passes(f)))
            .into_iter();
        let (statics, code) = (
            function_static(&item, f, "FUNCTION"),
            code(&item, f, "FUNCTION"),
        );
        quote! {
            pub fn #method() -> k::Code<'static, T> {
                #(#passes)*
                #statics
                #code
            }
        }
    });
    quote! {
        #[allow(non_camel_case_types)]
        pub mod #name {
            use super::k;
            #types
            static PTX: Result<&'static str, &'static str> = #ptx;
            #kernels
            #(#functions)*
        }
    }
}
