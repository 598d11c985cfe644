//! Names and Rust types in an expansion.

use crate::function::Input;
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
pub(super) fn input_type(axis: Option<Axis>, ty: Type, lifetime: &TokenStream) -> TokenStream {
    let marker = match (ty.element, ty.shape) {
        (Element::Complex, Shape::Scalar) => quote!(k::ComplexScalar),
        (Element::Complex, Shape::Vector(n)) => quote!(k::ComplexVector<#n>),
        (Element::Complex, Shape::Matrix(r, c)) => quote!(k::ComplexMatrix<#r, #c>),
        (_, Shape::Scalar) => quote!(k::Scalar),
        (_, Shape::Vector(n)) => quote!(k::Vector<#n>),
        (_, Shape::Matrix(r, c)) => quote!(k::Matrix<#r, #c>),
    };
    match axis {
        Some(_) => quote!(k::IntoRows<#lifetime, T, #marker>),
        None => quote!(k::IntoParameter<#lifetime, T, #marker>),
    }
}

/// The trait of a cotangent, which has the result's rows.
pub(super) fn cotangent_type(axis: Option<Axis>, ty: Type) -> TokenStream {
    input_type(axis, ty, &quote!('e))
}

/// Arrays of so many axes, at least one.
fn dimension(axes: usize) -> TokenStream {
    match axes {
        1 => quote!(k::ndarray::Ix1),
        2 => quote!(k::ndarray::Ix2),
        _ => quote!(k::ndarray::Ix3),
    }
}

/// The type that a result is returned as, in the place `P`, and how it is made of the next value.
pub(super) fn output(axis: Option<Axis>, ty: Type) -> (TokenStream, TokenStream) {
    let is_index = ty.element == Element::Index;
    let element = if is_index {
        quote!(P::Index)
    } else {
        quote!(T)
    };
    let next = quote!(k::next::<T>(&mut values));
    if ty.element == Element::Complex {
        return match ty.shape.rank() + usize::from(axis.is_some()) {
            0 => (
                quote!(P::ComplexScalar<T>),
                quote!(P::complex_scalar(#next)),
            ),
            axes if ty.shape.rank() == 2 => {
                let dimension = dimension(axes);
                (
                    quote!(P::ComplexMatrices<T, #dimension>),
                    quote!(P::complex_matrices(#next)),
                )
            }
            axes => {
                let dimension = dimension(axes);
                (
                    quote!(P::ComplexArray<T, #dimension>),
                    quote!(P::complex_array(#next)),
                )
            }
        };
    }
    match (ty.shape.rank() + usize::from(axis.is_some()), is_index) {
        (0, false) => (quote!(P::Scalar<#element>), quote!(P::scalar(#next))),
        (0, true) => (quote!(P::Scalar<#element>), quote!(P::scalar_index(#next))),
        (axes, false) => {
            let dimension = dimension(axes);
            (
                quote!(P::Array<#element, #dimension>),
                quote!(P::array(#next)),
            )
        }
        (axes, true) => {
            let dimension = dimension(axes);
            (
                quote!(P::Array<#element, #dimension>),
                quote!(P::array_index(#next)),
            )
        }
    }
}

/// Where the numbers of an array are.
#[derive(Clone, Copy)]
pub(super) enum Memory {
    Host,
    Device,
}

/// The type of a tangent field: what `&array` of the variable's rank coerces to, or a number.
pub(super) fn tangent_type(input: &Input, memory: Memory) -> TokenStream {
    let ty = input.ty();
    let element = if ty.element == Element::Complex {
        quote!(k::Complex<T>)
    } else {
        quote!(T)
    };
    match ty.shape.rank() + usize::from(input.axis.is_some()) {
        0 => element,
        axes => {
            let dimension = dimension(axes);
            match memory {
                Memory::Host => quote!(&'t k::ndarray::ArrayRef<#element, #dimension>),
                Memory::Device => quote!(&'t k::DeviceArray<#element, #dimension>),
            }
        }
    }
}
