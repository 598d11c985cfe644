//! The host side of an item: a module with its kernels, its call type and methods, and the re-exports.
//!
//! Invariants: the expansion holds no `unsafe` (users may forbid it) and names nothing but `::keops::__private` and itself;
//! derivative methods are generic, so their kernels are only compiled where they are called.

use super::compiled::{Compiled, Role};
use super::derivatives::derivatives;
use super::names::{input_type, output, pascal_case};
use super::parameters::{constant, dimensions, generics, reference, value};
use super::plan::{code, function_static, launches};
use crate::budget::Size;
use crate::emit::{self, Dialect, ValueTypes};
use crate::types::Type;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Attribute;
use syn::parse::Parser;

const KERNELS: &str = "::keops::__private::keops_gpu_kernels";
const COPY: &str = "impl GENERICS Copy for NAME {}\nimpl GENERICS Clone for NAME { fn clone(&self) -> Self { *self } }";

/// The names that an item declares.
pub(super) struct ItemNames {
    pub(super) module: Ident,
    pub(super) marker: Ident,
    pub(super) call: Ident,
    pub(super) gradient: Ident,
    pub(super) tangent: Ident,
    pub(super) device_tangent: Ident,
}

impl ItemNames {
    pub(super) fn new(name: &Ident) -> ItemNames {
        let pascal = pascal_case(&name.to_string());
        ItemNames {
            module: Ident::new(&format!("__keops_{name}"), Span::call_site()),
            marker: Ident::new(&pascal, name.span()),
            call: Ident::new(&format!("{pascal}Call"), name.span()),
            gradient: Ident::new(&format!("{pascal}Grad"), name.span()),
            tangent: Ident::new(&format!("{pascal}Tangent"), name.span()),
            device_tangent: Ident::new(&format!("{pascal}DeviceTangent"), name.span()),
        }
    }
}

/// All tokens of an item.
pub(super) fn item(item: &Compiled, ptx: &Result<String, String>) -> TokenStream {
    let names = ItemNames::new(&item.name);
    let ItemNames {
        module,
        marker,
        call,
        gradient,
        tangent,
        device_tangent,
    } = &names;
    let (name, visibility) = (&item.name, &item.visibility);
    let conditions = conditions(&item.attributes);
    let kernels = kernels(item);
    let types = types(item);
    let body = [
        function(item, &names),
        marker_type(item, &names, ptx),
        call_type(item, &names),
    ];
    let derivatives = item.is_differentiable().then(|| derivatives(item, &names));
    let with_gradient = item.is_differentiable().then(|| quote!(#gradient,));
    let with_tangent = item
        .functions
        .iter()
        .any(|f| f.role == Role::Jvp)
        .then(|| quote!(#tangent, #device_tangent,));
    quote! {
        #[allow(unused_imports, non_snake_case, non_camel_case_types, unreachable_pub, clippy::all, clippy::pedantic)]
        #(#conditions)*
        mod #module {
            use ::keops::__private as k;
            #types
            #kernels
            #(#body)*
            #derivatives
            pub mod types {
                pub use super::{#call, #with_gradient #with_tangent};
            }
        }
        #(#conditions)*
        #[allow(unused_imports, deprecated)]
        #visibility use #module::{#name, #marker};
        // By a glob, which gives way to an item of the same name: `gauss_grad` beside `gauss`.
        #(#conditions)*
        #[allow(unused_imports, deprecated)]
        #visibility use #module::types::*;
    }
}

/// The item's `#[cfg(…)]`: they hold for everything that it expands to, the other attributes for its function.
fn conditions(attributes: &TokenStream) -> Vec<Attribute> {
    let all = Attribute::parse_outer
        .parse2(attributes.clone())
        .unwrap_or_default();
    all.into_iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .collect()
}

/// The kernels of an item and, of one with const parameters, the device's at the values that it lists: these are for what a launch
/// has to know of them, and never run.
pub(super) fn kernels(item: &Compiled) -> TokenStream {
    let listed = item.instances.iter();
    let text: String = std::iter::once(emitted(item, &item.dimensions))
        .chain(listed.map(|instance| emitted(&instance.item, &[])))
        .collect();
    text.parse()
        .unwrap_or_else(|e| panic!("internal error in keops: emitted text does not parse: {e}"))
}

/// The text of those kernels that some function uses: an item may have lost some.
fn emitted(item: &Compiled, dimensions: &[String]) -> String {
    let used = |n: &usize| item.functions.iter().any(|f| f.kernels.contains(n));
    let dialect = Dialect {
        kernels: KERNELS,
        copy: COPY,
        dimensions,
    };
    (0..item.kernels.len())
        .filter(used)
        .map(|n| {
            emit::kernel(
                &item.kernels[n].1,
                &item.kernel_type(n),
                item.types,
                dialect,
            )
        })
        .collect()
}

/// The alias of the value type, for items that are not generic.
pub(super) fn types(item: &Compiled) -> TokenStream {
    match item.types {
        ValueTypes::F32 => quote!(
            type T = f32;
        ),
        ValueTypes::F64 => quote!(
            type T = f64;
        ),
        ValueTypes::Generic => quote!(),
    }
}

pub(super) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// The function that binds the inputs.
fn function(item: &Compiled, names: &ItemNames) -> TokenStream {
    let (declared, used) = generics(item);
    let (name, call, attributes) = (&item.name, &names.call, &item.attributes);
    let inputs = &item.formula.inputs;
    let arguments = inputs.iter().map(|input| {
        let (argument, ty) = (
            ident(&input.name),
            input_type(input.axis, input.ty(), &quote!('a)),
        );
        quote!(#argument: impl #ty)
    });
    let bound = inputs.iter().map(|input| {
        let argument = ident(&input.name);
        if input.axis.is_some() {
            quote!(k::IntoRows::into_rows(#argument))
        } else {
            quote!(k::IntoParameter::into_parameter(#argument))
        }
    });
    let formula = format!(" Formula: `{}`.", item.text.replace('`', "'"));
    let checks = checks(item);
    quote! {
        #attributes
        #[doc = ""]
        #[doc = #formula]
        #[inline]
        pub fn #name<'a, #declared>(#(#arguments),*) -> #call<'a, #used> {
            #checks
            #call { inputs: [#(#bound),*], options: k::Options::new(), place: ::core::marker::PhantomData }
        }
    }
}

/// What refuses values of the const parameters that the item cannot have, when it is called: under its name.
fn checks(item: &Compiled) -> TokenStream {
    let span = item.name.span();
    let least = item.dimensions.iter().zip(&item.allowed.least);
    let least = least.map(|(dimension, least)| {
        let message = format!("{}: {dimension} must be at least {least}", item.name);
        let dimension = ident(dimension);
        quote_spanned!(span=> const { assert!(#dimension >= #least, #message) };)
    });
    let except = item.allowed.except.iter().map(|values| {
        let names = values
            .iter()
            .map(|&(n, value)| (&item.dimensions[n], value));
        let text: Vec<String> = names
            .clone()
            .map(|(d, v)| format!("{d} cannot be {v}"))
            .collect();
        let message = format!("{}: {}", item.name, text.join(" where "));
        let differs = names.map(|(d, value)| {
            let dimension = ident(d);
            quote!(#dimension != #value)
        });
        quote_spanned!(span=> const { assert!(#(#differs)||*, #message) };)
    });
    let sizes = item.sizes.iter().map(|found| {
        let message = format!("{}: {found}", item.name);
        let Size { size, limit, .. } = found;
        quote_spanned!(span=> const { assert!(#size <= #limit, #message) };)
    });
    quote!(#(#least)* #(#except)* #(#sizes)*)
}

/// The type that carries what is known of the item at compile time.
fn marker_type(item: &Compiled, names: &ItemNames, ptx: &Result<String, String>) -> TokenStream {
    let (marker, text, name) = (&names.marker, &item.text, item.name.to_string());
    let doc = format!(" What is known of [`{name}`] at compile time.");
    let literal = |ptx: &Result<String, String>| match ptx {
        Ok(text) => quote!(Ok(#text)),
        Err(reason) => quote!(Err(#reason)),
    };
    let module = if item.dimensions.is_empty() {
        literal(ptx)
    } else {
        let dimensions: Vec<Ident> = item.dimensions.iter().map(|d| ident(d)).collect();
        let listed = item.instances.iter().map(|instance| {
            let (values, ptx) = (&instance.values, literal(&instance.ptx));
            quote!((#(#values,)*) => #ptx,)
        });
        let reason = other_values(item);
        quote!(match (#(#dimensions,)*) { #(#listed)* _ => Err(#reason) })
    };
    let module = constant(
        item,
        "PTX",
        &quote!(Result<&'static str, &'static str>),
        &module,
    );
    let value = value(item, "PTX");
    let (declared, _) = dimensions(item);
    quote! {
        #[doc = #doc]
        #[derive(Clone, Copy, Debug)]
        pub struct #marker;
        impl #marker {
            /// The formula as text.
            pub const FORMULA: &'static str = #text;
            /// The PTX module of all its kernels, made by the compiler that built this crate.
            ///
            /// # Errors
            /// Where there is none: the reason.
            pub fn ptx<#declared>() -> Result<&'static str, k::Error> {
                #value.map_err(|reason| k::no_ptx(#name, reason))
            }
        }
        #module
        // Makes the build depend on these variables.
        const _: [Option<&str>; 2] = [option_env!("KEOPS_PTX"), option_env!("KEOPS_PTX_DIR")];
    }
}

/// Why there is no device code at values of the const parameters that are not listed.
fn other_values(item: &Compiled) -> String {
    let assignment = |values: &[usize]| {
        let pairs = item.dimensions.iter().zip(values);
        let pairs: Vec<String> = pairs.map(|(d, v)| format!("{d} = {v}")).collect();
        pairs.join(", ")
    };
    let example = assignment(&vec![3; item.dimensions.len()]);
    match &item.instances[..] {
        [] => format!(
            "a formula with const parameters has device code for values that are listed only; \
             write `#[keops({example})]` above it"
        ),
        some => {
            let listed: Vec<String> = some.iter().map(|i| assignment(&i.values)).collect();
            format!(
                "it has device code for {} only; write `#[keops({example})]` above the formula for others",
                listed.join("; ")
            )
        }
    }
}

/// The bound call with its options and evaluation.
fn call_type(item: &Compiled, names: &ItemNames) -> TokenStream {
    let (declared, used) = generics(item);
    let (call, count) = (&names.call, item.formula.inputs.len());
    let doc = format!(
        " [`{}`] with its inputs, ready to be evaluated; `P` says where results are left.",
        item.name
    );
    let eval = &item.functions[0];
    let function = function_static(item, eval, "EVAL");
    let code = code(item, eval, "EVAL");
    let launches = launches(item, eval);
    let whole = reference(item, "EVAL");
    let (ty, value) = result(item);
    quote! {
        #[doc = #doc]
        #[must_use = "a call does nothing until it is evaluated"]
        pub struct #call<'a, #declared P: k::Place = k::Host> {
            inputs: [k::Rows<'a, T>; #count],
            options: k::Options,
            place: ::core::marker::PhantomData<P>,
        }
        impl<'a, #declared> #call<'a, #used> {
            /// Runs on this backend.
            #[inline]
            pub fn on(mut self, backend: k::Backend) -> Self {
                self.options = self.options.on(backend);
                self
            }
            /// Runs on the CUDA device of this number and leaves the results there, as `DeviceArray`s. They may be used
            /// at once; whoever copies them to the host waits for them.
            #[inline]
            pub fn on_device(self, device: usize) -> #call<'a, #used k::Device> {
                #call { inputs: self.inputs, options: self.options.stay(device), place: ::core::marker::PhantomData }
            }
        }
        impl<'a, #declared P: k::Place> #call<'a, #used P> {
            /// Accumulates sums like this.
            #[inline]
            pub fn accumulate(mut self, accumulate: k::Accumulate) -> Self {
                self.options = self.options.accumulate(accumulate);
                self
            }
            #[doc(hidden)]
            #[inline]
            pub fn level(mut self, level: k::Level) -> Self {
                self.options = self.options.level(level);
                self
            }
        }
        #function
        // Not generic over the place, so that the kernels of an item with a fixed type are compiled here.
        fn evaluate<#declared>(
            inputs: &[&k::Rows<'_, T>],
            options: &k::Options,
        ) -> Result<k::Values<T>, k::Error> {
            k::call::<T>(&#code, inputs, options)
        }
        impl<#declared P: k::Place> #call<'_, #used P> {
            /// Evaluates the formula.
            ///
            /// # Errors
            /// Shapes that do not fit, a reduction of nothing that has no value, a backend that is not there.
            pub fn eval(&self) -> Result<#ty, k::Error> {
                let mut values = evaluate::<#used>(&self.inputs.each_ref(), &self.options)?;
                Ok(#value)
            }
            /// Where the call runs, and why. It prepares that backend.
            ///
            /// # Errors
            /// Those of `eval` that are found before anything is computed.
            pub fn backend(&self) -> Result<k::Choice, k::Error> {
                k::choose::<T>(#whole, #launches, &self.inputs.each_ref(), &self.options)
            }
        }
    }
}

/// The type of the result, and how it is taken from the values.
pub(super) fn result(item: &Compiled) -> (TokenStream, TokenStream) {
    let (types, takes): (Vec<TokenStream>, Vec<TokenStream>) = item
        .formula
        .outputs
        .iter()
        .zip(&item.formula.complex)
        .map(|(o, complex)| {
            let ty = complex.map_or(item.formula.graph.ty(o.node), Type::complex);
            output(o.axis, ty)
        })
        .unzip();
    if item.is_tuple {
        (quote!((#(#types,)*)), quote!((#(#takes,)*)))
    } else {
        (quote!(#(#types)*), quote!(#(#takes)*))
    }
}
