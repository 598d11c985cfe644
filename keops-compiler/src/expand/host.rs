//! The host side of an item: a module with its kernels, its call type and methods, and the re-exports.
//!
//! Invariants: the expansion holds no `unsafe` (users may forbid it) and names nothing but `::keops::__private` and itself;
//! derivative methods are generic, so their kernels are only compiled where they are called.

use super::compiled::{Compiled, NamedFunction, Role};
use super::names::{Memory, cotangent_type, input_type, output, pascal_case, tangent_type};
use super::parameters::{constant, dimensions, generics, reference, value, value_type};
use crate::emit::{self, Dialect, ValueTypes};
use crate::function::{Function, Input};
use crate::graph::complex;
use crate::lower::kernel::{KernelIr, Parameter};
use crate::types::{Axis, Shape, Type};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
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

fn kernels(item: &Compiled) -> TokenStream {
    let text: String = item
        .kernels
        .iter()
        .enumerate()
        .map(|(n, (_, ir))| {
            let dialect = Dialect {
                kernels: KERNELS,
                copy: COPY,
                dimensions: &item.dimensions,
            };
            emit::kernel(ir, &item.kernel_type(n), item.types, dialect)
        })
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
    let least = item
        .dimensions
        .iter()
        .zip(&item.least)
        .map(|(dimension, least)| {
            let message = format!("{}: {dimension} must be at least {least}", item.name);
            let dimension = ident(dimension);
            quote!(const { assert!(#dimension >= #least, #message) };)
        });
    quote! {
        #attributes
        #[doc = ""]
        #[doc = #formula]
        #[inline]
        pub fn #name<'a, #declared>(#(#arguments),*) -> #call<'a, #used> {
            #(#least)*
            #call { inputs: [#(#bound),*], options: k::Options::new(), place: ::core::marker::PhantomData }
        }
    }
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

/// The gradient type and the derivative methods.
fn derivatives(item: &Compiled, names: &ItemNames) -> TokenStream {
    let (declared, used) = generics(item);
    let (value, _) = value_type(item);
    let (call, gradient) = (&names.call, &names.gradient);
    let inputs = &item.formula.inputs;
    let fields = inputs.iter().map(|input| {
        let field = ident(&input.name);
        let (ty, _) = output(input.axis, input.ty());
        let doc = format!(
            " Derivative with respect to `{}`, in its shape.",
            input.name
        );
        quote!(#[doc = #doc] pub #field: #ty)
    });
    let doc = format!(
        " Derivatives of [`{}`]: one field per input, each in its input's shape, left where `P` says.",
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
    let passes = item
        .functions
        .iter()
        .filter(|f| f.role == Role::Vjp)
        .map(|f| constant(item, "VJP_PASSES", &quote!(&[k::Pass]), &passes(f)));
    quote! {
        #[doc = #doc]
        #[derive(Clone, Debug)]
        pub struct #gradient<#value P: k::Place = k::Host> {
            #(#fields,)*
        }
        #(#passes)*
        impl<#declared P: k::Place> #call<'_, #used P> {
            #(#methods)*
        }
        #(#forward)*
    }
}

/// The tangent types and `jvp`.
fn forward_mode(item: &Compiled, names: &ItemNames, function: &NamedFunction) -> TokenStream {
    let (declared, used) = generics(item);
    let call = &names.call;
    let inputs = &item.formula.inputs;
    let count = inputs.len();
    let tangents: Vec<Ident> = inputs.iter().map(|input| ident(&input.name)).collect();
    let statics = function_static(item, function, "FUNCTION");
    let code = code(item, function, "FUNCTION");
    let (ty, value) = result(item);
    let numbers: Vec<usize> = (0..count).collect();
    let types = [Memory::Host, Memory::Device].map(|memory| tangent(item, names, memory));
    quote! {
        #(#types)*
        impl<#declared P: k::Place> #call<'_, #used P> {
            /// The derivative of the result along tangents of the inputs (the Jacobian-vector product), in the result's
            /// shape.
            ///
            /// # Errors
            /// As for `eval`, and where a tangent does not have its input's shape.
            pub fn jvp<'t>(&self, t: impl k::Tangents<'t, T, #count>) -> Result<#ty, k::Error> {
                #statics
                let zero = [<T as Default>::default()];
                let [#(#tangents),*] = k::Tangents::into_rows(t);
                #(let #tangents = #tangents.unwrap_or_else(|| k::zeros_like(&self.inputs[#numbers], &zero));)*
                let inputs = [#(&self.inputs[#numbers],)* #(&#tangents),*];
                let mut values = k::call::<T>(&#code, &inputs, &self.options)?;
                Ok(#value)
            }
        }
    }
}

/// The type of tangents in one kind of memory.
fn tangent(item: &Compiled, names: &ItemNames, memory: Memory) -> TokenStream {
    let (declared, used) = value_type(item);
    let tangent = match memory {
        Memory::Host => &names.tangent,
        Memory::Device => &names.device_tangent,
    };
    let inputs = &item.formula.inputs;
    let count = inputs.len();
    let fields: Vec<Ident> = inputs.iter().map(|input| ident(&input.name)).collect();
    let declarations = inputs.iter().zip(&fields).map(|(input, field)| {
        let ty = tangent_type(input, memory);
        let doc = format!(
            " Tangent of `{}`, in its shape; zero if `None`.",
            input.name
        );
        quote!(#[doc = #doc] pub #field: Option<#ty>)
    });
    let rows = inputs.iter().zip(&fields).map(|(input, field)| {
        let ty = match memory {
            Memory::Host => input.ty(),
            Memory::Device => Type::real(input.shape),
        };
        let is_scalar = ty.shape == Shape::Scalar;
        // Any number of columns: the type has no const parameters, and its fields do not say it either.
        let shape = match ty.shape {
            _ if item.dimensions.is_empty() => ty.shape,
            Shape::Scalar => Shape::Scalar,
            Shape::Vector(_) => Shape::Vector(0),
            Shape::Matrix(..) => Shape::Matrix(0, 0),
        };
        let ty = input_type(input.axis, Type { shape, ..ty }, &quote!('t));
        let view = match memory {
            Memory::Host if input.axis.is_some() || !is_scalar => {
                quote!(tangent.view())
            }
            _ => quote!(tangent),
        };
        let rows = match input.axis {
            Some(_) => quote!(<_ as #ty>::into_rows(#view)),
            None => quote!(<_ as #ty>::into_parameter(#view)),
        };
        quote! {
            match self.#field {
                Some(tangent) => Some(#rows),
                None => None,
            }
        }
    });
    let place = match memory {
        Memory::Host => "",
        Memory::Device => ", on a device",
    };
    let doc = format!(
        " Tangents of the inputs of [`{}`]{place}; those left out are zero.",
        item.name
    );
    quote! {
        #[doc = #doc]
        #[derive(Clone, Copy, Debug)]
        pub struct #tangent<'t, #declared> {
            #(#declarations,)*
            #[doc(hidden)]
            pub marker: ::core::marker::PhantomData<&'t T>,
        }
        impl<#declared> Default for #tangent<'_, #used> {
            fn default() -> Self {
                #tangent { #(#fields: None,)* marker: ::core::marker::PhantomData }
            }
        }
        impl<'t, #declared> k::Tangents<'t, T, #count> for #tangent<'t, #used> {
            fn into_rows(self) -> [Option<k::Rows<'t, T>>; #count] {
                [#(#rows),*]
            }
        }
    }
}

/// The type of the result, and how it is taken from the values.
fn result(item: &Compiled) -> (TokenStream, TokenStream) {
    let (types, takes): (Vec<TokenStream>, Vec<TokenStream>) = item
        .formula
        .outputs
        .iter()
        .zip(&item.formula.complex)
        .map(|(o, &is_complex)| {
            let ty = item.formula.graph.ty(o.node);
            let ty = if is_complex {
                complex::ty(ty.shape, true)
            } else {
                ty
            };
            output(o.axis, ty)
        })
        .unzip();
    if item.is_tuple {
        (quote!((#(#types,)*)), quote!((#(#takes,)*)))
    } else {
        (quote!(#(#types)*), quote!(#(#takes)*))
    }
}

fn derivative_method(item: &Compiled, names: &ItemNames, function: &NamedFunction) -> TokenStream {
    let inputs = &item.formula.inputs;
    let gradient = &names.gradient;
    let (_, used) = value_type(item);
    let (method, ty, value, doc) = match function.role {
        Role::Grad(n) => {
            let input = &inputs[n];
            let doc = format!(
                " The derivative of Σ ⟨e, result⟩ with respect to `{}` only.",
                input.name
            );
            let (ty, take) = output(input.axis, input.ty());
            (format_ident!("grad_{}", input.name), ty, take, doc)
        }
        _ => {
            let fields = inputs.iter().map(|input| {
                let field = ident(&input.name);
                let (_, take) = output(input.axis, input.ty());
                quote!(#field: #take)
            });
            let doc = " The derivatives of Σ ⟨e, result⟩ with respect to all inputs (the vector-Jacobian product).";
            (
                ident("vjp"),
                quote!(#gradient<#used P>),
                quote!(#gradient { #(#fields),* }),
                doc.to_owned(),
            )
        }
    };
    let statics = function_static(item, function, "FUNCTION");
    let code = code(item, function, "FUNCTION");
    let cotangents: Vec<Option<&Input>> = cotangents(item, &function.function);
    let names: Vec<Ident> = (0..cotangents.len())
        .map(|n| format_ident!("cotangent_{}", n))
        .collect();
    let types = cotangents.iter().map(|c| match c {
        Some(input) => {
            let ty = cotangent_type(input.axis, input.ty());
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
            let mut values = k::call::<T>(&#code, &inputs, &self.options)?;
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
        let kernel = kernel(item, n);
        quote!(k::table::<T, #kernel>())
    });
    quote!(const { &[#(#kernels),*] })
}

/// The type of a kernel.
fn kernel(item: &Compiled, number: usize) -> TokenStream {
    let kernel = ident(&item.kernel_type(number));
    if item.dimensions.is_empty() {
        return quote!(#kernel);
    }
    let (_, used) = dimensions(item);
    quote!(#kernel<#used>)
}

/// The device's kernels of a function.
fn launches(item: &Compiled, function: &NamedFunction) -> TokenStream {
    let launches = function.kernels.iter().enumerate().map(|(pass, &n)| {
        let kernel = kernel(item, n);
        let names = if item.dimensions.is_empty() {
            let [f32, f64] = item.entries(n);
            quote!([#f32, #f64])
        } else {
            let dimensions: Vec<Ident> = item.dimensions.iter().map(|d| ident(d)).collect();
            let listed = item.instances.iter().filter_map(|instance| {
                let functions = &instance.item.functions;
                let there = functions.iter().find(|f| f.role == function.role)?;
                let [f32, f64] = instance.item.entries(*there.kernels.get(pass)?);
                let values = &instance.values;
                Some(quote!((#(#values,)*) => [#f32, #f64],))
            });
            // Never read: there is no PTX then.
            quote!(match (#(#dimensions,)*) { #(#listed)* _ => ["", ""] })
        };
        quote!(k::launch::<T, #kernel>(#names))
    });
    quote!(const { &[#(#launches),*] })
}

/// A function with its kernels. A derivative with respect to one input has no device code of its own: a device runs those
/// passes of the fused one that it needs.
fn code(item: &Compiled, function: &NamedFunction, name: &str) -> TokenStream {
    let (whole, tables) = (reference(item, name), tables(item, function));
    let fused = item.functions.iter().find(|f| f.role == Role::Vjp);
    match (function.role, fused) {
        (Role::Grad(n), Some(fused)) => {
            let launches = launches(item, fused);
            let output = fused.function.outputs[n];
            let (cpu, passes) = (value(item, name), value(item, "VJP_PASSES"));
            let device = constant(
                item,
                "DEVICE",
                &quote!(k::Function),
                &quote!(k::Function { passes: #passes, outputs: &[#output], ..#cpu }),
            );
            let reference = reference(item, "DEVICE");
            quote! {
                k::Code {
                    cpu: #whole,
                    tables: #tables,
                    device: {
                        #device
                        #reference
                    },
                    launches: #launches,
                }
            }
        }
        _ => {
            let launches = launches(item, function);
            quote!(k::Code { cpu: #whole, tables: #tables, device: #whole, launches: #launches })
        }
    }
}

/// What the runtime is told about a function, as a static of this name.
fn function_static(item: &Compiled, function: &NamedFunction, variable: &str) -> TokenStream {
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
    let passes = match function.role {
        Role::Vjp => value(item, "VJP_PASSES"),
        _ => passes(function),
    };
    let outputs = &function.function.outputs;
    let ptx = value(item, "PTX");
    let function = quote! {
        k::Function {
            name: #name,
            inputs: &[#(#inputs),*],
            passes: #passes,
            outputs: &[#(#outputs),*],
            ptx: #ptx,
        }
    };
    constant(item, variable, &quote!(k::Function), &function)
}

/// The passes of a function.
fn passes(function: &NamedFunction) -> TokenStream {
    let function = &function.function;
    let passes = function
        .passes
        .iter()
        .zip(&function.needs_rows)
        .map(|(ir, rows)| pass(ir, rows));
    quote!(&[#(#passes),*])
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
