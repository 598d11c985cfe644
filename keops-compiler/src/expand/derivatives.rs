//! The derivative methods of an item and their types: gradients, tangents, `vjp`, `grad_<variable>`, `jvp`.

use super::compiled::{Compiled, NamedFunction, Role};
use super::host::{ItemNames, ident, result};
use super::names::{Memory, cotangent_type, input_type, output, tangent_type};
use super::parameters::{constant, generics, value_type};
use super::plan::{code, function_static, passes};
use crate::function::{Function, Input};
use crate::types::{Shape, Type};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// The gradient type and the derivative methods.
pub(super) fn derivatives(item: &Compiled, names: &ItemNames) -> TokenStream {
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
        .filter(|f| f.role != Role::Eval && f.role != Role::Jvp);
    let methods = backward.map(|f| derivative_method(item, names, f));
    let has_both = item.functions.iter().any(|f| f.role == Role::ValueAndVjp);
    let both = (!has_both).then(|| value_then_vjp(item, names));
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
            #both
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
        let ty = input.ty();
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
        role => {
            let fields = inputs.iter().map(|input| {
                let field = ident(&input.name);
                let (_, take) = output(input.axis, input.ty());
                quote!(#field: #take)
            });
            let (ty, value) = (
                quote!(#gradient<#used P>),
                quote!(#gradient { #(#fields),* }),
            );
            if role == Role::ValueAndVjp {
                let (of_value, take) = result(item);
                (
                    ident(VALUE_AND_VJP),
                    quote!((#of_value, #ty)),
                    quote!((#take, #value)),
                    VALUE_AND_VJP_DOC.to_owned(),
                )
            } else {
                let doc = " The derivatives of Σ ⟨e, result⟩ with respect to all inputs (the vector-Jacobian product).";
                (ident("vjp"), ty, value, doc.to_owned())
            }
        }
    };
    let statics = function_static(item, function, "FUNCTION");
    let code = code(item, function, "FUNCTION");
    let cotangents: Vec<Option<&Input>> = cotangents(item, &function.function);
    let names = cotangent_variables(cotangents.len());
    let (argument, pattern) = cotangent_argument(item, &cotangents);
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

/// The name and the documentation of the method that gives both.
const VALUE_AND_VJP: &str = "value_and_vjp";
const VALUE_AND_VJP_DOC: &str = " The value as of `eval` and the derivatives as of `vjp`, which share what both need: reductions that \
                                 both read run once, and those over the same rows in one pass.";

/// The method that gives both, where they are too large for one function.
fn value_then_vjp(item: &Compiled, names: &ItemNames) -> TokenStream {
    let Some(vjp) = item.functions.iter().find(|f| f.role == Role::Vjp) else {
        return quote!();
    };
    let gradient = &names.gradient;
    let (_, used) = value_type(item);
    let (argument, _) = cotangent_argument(item, &cotangents(item, &vjp.function));
    let (of_value, _) = result(item);
    let method = ident(VALUE_AND_VJP);
    quote! {
        /// The value as of `eval` and the derivatives as of `vjp`, one after the other.
        ///
        /// `e` is the cotangent: rows of the result's shape.
        ///
        /// # Errors
        /// As for `eval`, and where `e` does not have the result's shape.
        pub fn #method<'e>(&self, e: #argument) -> Result<(#of_value, #gradient<#used P>), k::Error> {
            let gradient = self.vjp(e)?;
            Ok((self.eval()?, gradient))
        }
    }
}

fn cotangent_variables(count: usize) -> Vec<Ident> {
    (0..count)
        .map(|n| format_ident!("cotangent_{}", n))
        .collect()
}

/// The type of the cotangent argument, and the pattern that takes it apart.
fn cotangent_argument(
    item: &Compiled,
    cotangents: &[Option<&Input>],
) -> (TokenStream, TokenStream) {
    let names = cotangent_variables(cotangents.len());
    let types = cotangents.iter().map(|c| match c {
        Some(input) => {
            let ty = cotangent_type(input.axis, input.ty());
            quote!(impl #ty)
        }
        None => quote!(()),
    });
    if item.is_tuple {
        (quote!((#(#types,)*)), quote!((#(#names,)*)))
    } else {
        (quote!(#(#types)*), quote!(#(#names)*))
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
