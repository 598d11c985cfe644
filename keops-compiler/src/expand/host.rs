//! The host side of an item: a module with its kernels, its call type and methods, and the re-exports.
//!
//! Invariants: the expansion holds no `unsafe` (users may forbid it) and names nothing but `::keops::__private` and itself;
//! derivative methods are generic, so their kernels are only compiled where they are called.

use super::compiled::{Compiled, NamedFunction, Role};
use super::names::{cotangent_type, input_type, output_type, pascal_case, tangent_type};
use crate::emit::{self, ValueTypes};
use crate::function::{Function, Input};
use crate::lower::kernel::{KernelIr, Parameter};
use crate::types::{Axis, Shape};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::Attribute;
use syn::parse::Parser;

const KERNELS: &str = "::keops::__private::keops_gpu_kernels";
const COPY: &str =
    "impl Copy for NAME {}\nimpl Clone for NAME { fn clone(&self) -> Self { *self } }";

/// The names that an item declares.
pub(super) struct ItemNames {
    pub(super) module: Ident,
    pub(super) marker: Ident,
    pub(super) call: Ident,
    pub(super) gradient: Ident,
    pub(super) tangent: Ident,
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
        .then(|| quote!(#tangent,));
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

fn kernels(item: &Compiled) -> TokenStream {
    let text: String = item
        .kernels
        .iter()
        .enumerate()
        .map(|(n, (_, ir))| emit::kernel(ir, &item.kernel_type(n), item.types, KERNELS, COPY))
        .collect();
    text.parse()
        .unwrap_or_else(|e| panic!("internal error in keops: emitted text does not parse: {e}"))
}

/// The alias of the value type, for items that are not generic.
fn types(item: &Compiled) -> TokenStream {
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

/// `(<'a, T: Float>, <'a, T>)` or `(<'a>, <'a>)`, and the latter without the lifetime's name.
fn generics(item: &Compiled) -> (TokenStream, TokenStream, TokenStream) {
    match item.types {
        ValueTypes::Generic => (quote!(<'a, T: k::Float>), quote!(<'a, T>), quote!(<'_, T>)),
        _ => (quote!(<'a>), quote!(<'a>), quote!(<'_>)),
    }
}

fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// The function that binds the inputs.
fn function(item: &Compiled, names: &ItemNames) -> TokenStream {
    let (declared, used, _) = generics(item);
    let (name, call, attributes) = (&item.name, &names.call, &item.attributes);
    let inputs = &item.formula.inputs;
    let arguments = inputs.iter().map(|input| {
        let (argument, ty) = (
            ident(&input.name),
            input_type(input.axis, input.shape, &quote!('a)),
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
    quote! {
        #attributes
        #[doc = ""]
        #[doc = #formula]
        #[inline]
        pub fn #name #declared (#(#arguments),*) -> #call #used {
            #call { inputs: [#(#bound),*], options: k::Options::new() }
        }
    }
}

/// The type that carries what is known of the item at compile time.
fn marker_type(item: &Compiled, names: &ItemNames, ptx: &Result<String, String>) -> TokenStream {
    let (marker, text, name) = (&names.marker, &item.text, item.name.to_string());
    let doc = format!(" What is known of [`{name}`] at compile time.");
    let ptx = match ptx {
        Ok(text) => quote!(Ok(#text)),
        Err(reason) => quote!(Err(#reason)),
    };
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
            pub fn ptx() -> Result<&'static str, k::Error> {
                PTX.map_err(|reason| k::no_ptx(#name, reason))
            }
        }
        const PTX: Result<&'static str, &'static str> = #ptx;
        // Makes the build depend on these variables.
        const _: [Option<&str>; 2] = [option_env!("KEOPS_PTX"), option_env!("KEOPS_PTX_DIR")];
    }
}

/// The bound call with its options and evaluation.
fn call_type(item: &Compiled, names: &ItemNames) -> TokenStream {
    let (declared, used, anonymous) = generics(item);
    let (call, count) = (&names.call, item.formula.inputs.len());
    let doc = format!(" [`{}`] with its inputs, ready to be evaluated.", item.name);
    let eval = &item.functions[0];
    let statics = function_static(item, eval);
    let tables = tables(item, eval);
    let (ty, value) = result(item);
    let impl_generics = match item.types {
        ValueTypes::Generic => quote!(<T: k::Float>),
        _ => quote!(),
    };
    quote! {
        #[doc = #doc]
        #[must_use = "a call does nothing until it is evaluated"]
        pub struct #call #declared {
            inputs: [k::Rows<'a, T>; #count],
            options: k::Options,
        }
        impl #declared #call #used {
            /// Runs on this backend.
            #[inline]
            pub fn on(mut self, backend: k::Backend) -> Self {
                self.options = self.options.on(backend);
                self
            }
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
        impl #impl_generics #call #anonymous {
            /// Evaluates the formula.
            ///
            /// # Errors
            /// Shapes that do not fit, a reduction of nothing that has no value, a backend that is not there.
            pub fn eval(&self) -> Result<#ty, k::Error> {
                #statics
                let mut values = k::call::<T>(&FUNCTION, #tables, &self.inputs.each_ref(), &self.options)?;
                Ok(#value)
            }
        }
    }
}

/// The gradient type and the derivative methods.
fn derivatives(item: &Compiled, names: &ItemNames) -> TokenStream {
    let (_, _, anonymous) = generics(item);
    let (call, gradient) = (&names.call, &names.gradient);
    let gradient_generics = match item.types {
        ValueTypes::Generic => quote!(<T: k::Float>),
        _ => quote!(),
    };
    let inputs = &item.formula.inputs;
    let fields = inputs.iter().map(|input| {
        let (field, ty) = (
            ident(&input.name),
            output_type(input.axis, crate::types::Type::real(input.shape)),
        );
        let doc = format!(
            " Derivative with respect to `{}`, in its shape.",
            input.name
        );
        quote!(#[doc = #doc] pub #field: #ty)
    });
    let doc = format!(
        " Derivatives of [`{}`]: one field per input, each in its input's shape.",
        item.name
    );
    let backward = item
        .functions
        .iter()
        .filter(|f| matches!(f.role, Role::Vjp | Role::Grad(_)));
    let methods = backward.map(|f| derivative_method(item, names, f));
    let forward = item
        .functions
        .iter()
        .filter(|f| f.role == Role::Jvp)
        .map(|f| forward_mode(item, names, f));
    quote! {
        #[doc = #doc]
        #[derive(Clone, Debug)]
        pub struct #gradient #gradient_generics {
            #(#fields,)*
        }
        impl #gradient_generics #call #anonymous {
            #(#methods)*
        }
        #(#forward)*
    }
}

/// The tangent type and `jvp`.
fn forward_mode(item: &Compiled, names: &ItemNames, function: &NamedFunction) -> TokenStream {
    let (_, _, anonymous) = generics(item);
    let (call, tangent) = (&names.call, &names.tangent);
    let (declared, used, on_call) = match item.types {
        ValueTypes::Generic => (
            quote!(<'t, T: k::Float>),
            quote!(<'t, T>),
            quote!(<T: k::Float>),
        ),
        _ => (quote!(<'t>), quote!(<'t>), quote!()),
    };
    let inputs = &item.formula.inputs;
    let names: Vec<Ident> = inputs.iter().map(|input| ident(&input.name)).collect();
    let fields = inputs.iter().zip(&names).map(|(input, field)| {
        let ty = tangent_type(input.axis, input.shape);
        let doc = format!(
            " Tangent of `{}`, in its shape; zero if `None`.",
            input.name
        );
        quote!(#[doc = #doc] pub #field: Option<#ty>)
    });
    let bound = inputs
        .iter()
        .zip(&names)
        .enumerate()
        .map(|(n, (input, field))| {
            let ty = input_type(input.axis, input.shape, &quote!('_));
            let rows = match (input.axis, input.shape) {
                (Some(_), _) => quote!(<_ as #ty>::into_rows(tangent.view())),
                (None, Shape::Scalar) => quote!(<_ as #ty>::into_parameter(tangent)),
                (None, _) => quote!(<_ as #ty>::into_parameter(tangent.view())),
            };
            quote! {
                let #field = match t.#field {
                    Some(tangent) => #rows,
                    None => k::zeros_like(&self.inputs[#n], &zero),
                };
            }
        });
    let statics = function_static(item, function);
    let tables = tables(item, function);
    let (ty, value) = result(item);
    let numbers = 0..inputs.len();
    let doc = format!(
        " Tangents of the inputs of [`{}`]; those left out are zero.",
        item.name
    );
    quote! {
        #[doc = #doc]
        #[derive(Clone, Copy, Debug)]
        pub struct #tangent #declared {
            #(#fields,)*
            #[doc(hidden)]
            pub marker: ::core::marker::PhantomData<&'t T>,
        }
        impl #declared Default for #tangent #used {
            fn default() -> Self {
                #tangent { #(#names: None,)* marker: ::core::marker::PhantomData }
            }
        }
        impl #on_call #call #anonymous {
            /// The derivative of the result along tangents of the inputs (the Jacobian-vector product), in the result's
            /// shape.
            ///
            /// # Errors
            /// As for `eval`, and where a tangent does not have its input's shape.
            pub fn jvp(&self, t: #tangent #anonymous) -> Result<#ty, k::Error> {
                #statics
                let zero = [<T as Default>::default()];
                #(#bound)*
                let inputs = [#(&self.inputs[#numbers],)* #(&#names),*];
                let mut values = k::call::<T>(&FUNCTION, #tables, &inputs, &self.options)?;
                Ok(#value)
            }
        }
    }
}

/// The type of the result, and how it is taken from the values.
fn result(item: &Compiled) -> (TokenStream, TokenStream) {
    let outputs: Vec<TokenStream> = item
        .formula
        .outputs
        .iter()
        .map(|o| output_type(o.axis, item.formula.graph.ty(o.node)))
        .collect();
    if item.is_tuple {
        let takes = outputs.iter().map(|_| quote!(k::take(&mut values)));
        (quote!((#(#outputs,)*)), quote!((#(#takes,)*)))
    } else {
        (quote!(#(#outputs)*), quote!(k::take(&mut values)))
    }
}

fn derivative_method(item: &Compiled, names: &ItemNames, function: &NamedFunction) -> TokenStream {
    let inputs = &item.formula.inputs;
    let gradient = &names.gradient;
    let args = if item.types == ValueTypes::Generic {
        quote!(<T>)
    } else {
        quote!()
    };
    let (method, ty, value, doc) = match function.role {
        Role::Grad(n) => {
            let input = &inputs[n];
            let doc = format!(
                " The derivative of Σ ⟨e, result⟩ with respect to `{}` only.",
                input.name
            );
            let ty = output_type(input.axis, crate::types::Type::real(input.shape));
            (
                format_ident!("grad_{}", input.name),
                ty,
                quote!(k::take(&mut values)),
                doc,
            )
        }
        _ => {
            let fields = inputs.iter().map(|input| {
                let field = ident(&input.name);
                quote!(#field: k::take(&mut values))
            });
            let doc = " The derivatives of Σ ⟨e, result⟩ with respect to all inputs (the vector-Jacobian product).";
            (
                ident("vjp"),
                quote!(#gradient #args),
                quote!(#gradient { #(#fields),* }),
                doc.to_owned(),
            )
        }
    };
    let statics = function_static(item, function);
    let tables = tables(item, function);
    let cotangents: Vec<Option<&Input>> = cotangents(item, &function.function);
    let names: Vec<Ident> = (0..cotangents.len())
        .map(|n| format_ident!("cotangent_{}", n))
        .collect();
    let types = cotangents.iter().map(|c| match c {
        Some(input) => {
            let ty = cotangent_type(input.axis, input.shape);
            quote!(impl #ty)
        }
        None => quote!(()),
    });
    let (argument, pattern) = if item.is_tuple {
        (quote!((#(#types,)*)), quote!((#(#names,)*)))
    } else {
        (quote!(#(#types)*), quote!(#(#names)*))
    };
    let bound: Vec<TokenStream> = cotangents
        .iter()
        .zip(&names)
        .filter_map(|(c, name)| {
            c.map(|input| {
                if input.axis.is_some() {
                    quote!(let #name = k::IntoRows::into_rows(#name);)
                } else {
                    quote!(let #name = k::IntoParameter::into_parameter(#name);)
                }
            })
        })
        .collect();
    let rows: Vec<&Ident> = cotangents
        .iter()
        .zip(&names)
        .filter(|(c, _)| c.is_some())
        .map(|(_, name)| name)
        .collect();
    let numbers = 0..inputs.len();
    quote! {
        #[doc = #doc]
        ///
        /// `e` is the cotangent: rows of the result's shape.
        ///
        /// # Errors
        /// As for `eval`, and where `e` does not have the result's shape.
        pub fn #method<'e>(&self, e: #argument) -> Result<#ty, k::Error> {
            #statics
            let #pattern = e;
            #(#bound)*
            let inputs = [#(&self.inputs[#numbers],)* #(&#rows),*];
            let mut values = k::call::<T>(&FUNCTION, #tables, &inputs, &self.options)?;
            Ok(#value)
        }
    }
}

/// For each output its cotangent input, none for indices.
fn cotangents<'f>(item: &Compiled, function: &'f Function) -> Vec<Option<&'f Input>> {
    let mut added = function.inputs[item.formula.inputs.len()..].iter();
    item.formula
        .cotangent_names()
        .iter()
        .map(|name| name.as_ref().and_then(|_| added.next()))
        .collect()
}

fn tables(item: &Compiled, function: &NamedFunction) -> TokenStream {
    let kernels = function.kernels.iter().map(|&n| {
        let kernel = ident(&item.kernel_type(n));
        quote!(k::table::<T, #kernel>())
    });
    quote!(const { &[#(#kernels),*] })
}

/// `static FUNCTION`, what the runtime is told about a function.
fn function_static(item: &Compiled, function: &NamedFunction) -> TokenStream {
    let name = item.name.to_string();
    let own = item.formula.inputs.len();
    let inputs = function
        .function
        .inputs
        .iter()
        .enumerate()
        .map(|(n, input)| {
            let (name, axis, shape) = (&input.name, axis(input.axis), shape(input.shape));
            let cotangent = n >= own;
            quote!(k::Input { name: #name, axis: #axis, shape: #shape, cotangent: #cotangent })
        });
    let passes = function
        .function
        .passes
        .iter()
        .zip(&function.function.needs_rows)
        .map(|(ir, rows)| pass(ir, rows));
    let outputs = &function.function.outputs;
    quote! {
        static FUNCTION: k::Function = k::Function {
            name: #name,
            inputs: &[#(#inputs),*],
            passes: &[#(#passes),*],
            outputs: &[#(#outputs),*],
            ptx: PTX,
        };
    }
}

fn pass(ir: &KernelIr, needs_rows: &Option<String>) -> TokenStream {
    let (outer, inner) = (axis(ir.outer), axis(ir.inner));
    let (outer_slots, inner_slots) = (&ir.outer_slots, &ir.inner_slots);
    let parameters = ir.parameters.iter().map(|p| match p {
        Parameter::Slot(slot) => quote!(k::Parameter::Slot(#slot)),
        Parameter::Extent(a) => {
            let letter = axis_name(*a);
            quote!(k::Parameter::Extent(#letter))
        }
    });
    let outputs = ir.outputs.iter().map(|o| {
        let (shape, index) = (shape(o.shape), o.index);
        quote!(k::Output { shape: #shape, index: #index, axis: #outer })
    });
    let needs_rows = match needs_rows {
        Some(name) => quote!(Some(#name)),
        None => quote!(None),
    };
    quote! {
        k::Pass {
            outer: #outer,
            inner: #inner,
            outer_slots: &[#(#outer_slots),*],
            inner_slots: &[#(#inner_slots),*],
            parameters: &[#(#parameters),*],
            outputs: &[#(#outputs),*],
            needs_rows: #needs_rows,
        }
    }
}

fn axis_name(axis: Axis) -> TokenStream {
    match axis {
        Axis::I => quote!(k::Axis::I),
        Axis::J => quote!(k::Axis::J),
    }
}

fn axis(axis: Option<Axis>) -> TokenStream {
    axis.map_or(quote!(None), |a| {
        let name = axis_name(a);
        quote!(Some(#name))
    })
}

fn shape(shape: Shape) -> TokenStream {
    match shape {
        Shape::Scalar => quote!(k::Shape::Scalar),
        Shape::Vector(n) => quote!(k::Shape::Vector(#n)),
        Shape::Matrix(r, c) => quote!(k::Shape::Matrix(#r, #c)),
    }
}
