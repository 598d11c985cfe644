//! Names and Rust types in an expansion.

use crate::types::{Axis, Element, Shape, Type};
use proc_macro2::TokenStream;
use quote::quote;

/// `gauss_dx` → `GaussDx`.
pub(super) fn pascal_case(name: &str) -> String {
    name.split('_')
        .map(|word| {
            let mut letters = word.chars();
            letters.next().map_or(String::new(), |first| {
                first.to_uppercase().chain(letters).collect()
            })
        })
        .collect()
}

/// The trait of an argument.
pub(super) fn input_type(axis: Option<Axis>, shape: Shape, lifetime: &TokenStream) -> TokenStream {
    let marker = match shape {
        Shape::Scalar => quote!(k::Scalar),
        Shape::Vector(n) => quote!(k::Vector<#n>),
        Shape::Matrix(r, c) => quote!(k::Matrix<#r, #c>),
    };
    match axis {
        Some(_) => quote!(k::IntoRows<#lifetime, T, #marker>),
        None => quote!(k::IntoParameter<#lifetime, T, #marker>),
    }
}

/// The trait of a cotangent, which has the result's rows.
pub(super) fn cotangent_type(axis: Option<Axis>, shape: Shape) -> TokenStream {
    input_type(axis, shape, &quote!('e))
}

/// The type that a result is returned as.
pub(super) fn output_type(axis: Option<Axis>, ty: Type) -> TokenStream {
    let element = if ty.element == Element::Index {
        quote!(usize)
    } else {
        quote!(T)
    };
    match ty.shape.rank() + usize::from(axis.is_some()) {
        0 => quote!(#element),
        1 => quote!(k::ndarray::Array1<#element>),
        2 => quote!(k::ndarray::Array2<#element>),
        _ => quote!(k::ndarray::Array3<#element>),
    }
}

/// The type of a tangent field: what `&array` of the variable's rank coerces to, or a number.
pub(super) fn tangent_type(axis: Option<Axis>, shape: Shape) -> TokenStream {
    match shape.rank() + usize::from(axis.is_some()) {
        0 => quote!(T),
        1 => quote!(&'t k::ndarray::ArrayRef1<T>),
        2 => quote!(&'t k::ndarray::ArrayRef2<T>),
        _ => quote!(&'t k::ndarray::ArrayRef3<T>),
    }
}
