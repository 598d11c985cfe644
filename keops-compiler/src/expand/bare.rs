//! An item without its call type: a module with its kernels and one function per way to run it, for programs that run
//! thousands of formulas and are to compile fast.
//!
//! The module's parent has the runtime's private names as `k`.

use super::compiled::{Compiled, Role};
use super::host::{ident, kernels, types};
use super::parameters::constant;
use super::plan::{code, function_static, passes};
use proc_macro2::TokenStream;
use quote::quote;

/// The method's name that runs a function: `eval`, `vjp`, `value_and_vjp`, `grad_x_i`, `jvp`.
fn name(item: &Compiled, role: Role) -> String {
    match role {
        Role::Eval => "eval".into(),
        Role::Vjp => "vjp".into(),
        Role::ValueAndVjp => "value_and_vjp".into(),
        Role::Grad(n) => format!("grad_{}", item.formula.inputs[n].name),
        Role::Jvp => "jvp".into(),
    }
}

/// The module, named like the item: for each of the item's functions one of its [`name`], with the function's code.
///
/// The item has one value type and no const parameters.
pub(super) fn module(item: Compiled, ptx: &Result<String, String>) -> TokenStream {
    let (module, kernels, types) = (&item.name, kernels(&item), types(&item));
    let ptx = match ptx {
        Ok(text) => quote!(Ok(#text)),
        Err(reason) => quote!(Err(#reason)),
    };
    let functions = item.functions.iter().map(|f| {
        let method = ident(&name(&item, f.role));
        let passes = (f.role == Role::Vjp)
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
        pub mod #module {
            use super::k;
            #types
            static PTX: Result<&'static str, &'static str> = #ptx;
            #kernels
            #(#functions)*
        }
    }
}
