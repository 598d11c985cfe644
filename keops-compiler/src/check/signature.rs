//! Variables: names, indices, shapes, and the item's one float type.

use super::error::CheckError;
use super::scope;
use super::suggest;
use crate::diagnostics::Diagnostics;
use crate::graph::complex::planar;
use crate::item::{Scalar, Signature, Variable};
use crate::syntax::expr::split_index;
use crate::syntax::{ItemSource, Name, Parameter, TypeSource};
use crate::types::Shape;
use crate::typing::{LARGEST, MAX_NUMBERS};

/// Most numbers of one value of an item: with const parameters the values at which it is used decide, not the samples.
pub(super) fn largest(has_const_parameters: bool) -> usize {
    if has_const_parameters {
        MAX_NUMBERS
    } else {
        LARGEST
    }
}

/// Most combinations of values of const parameters for which an item has device code.
const MOST_INSTANCES: usize = 50;

/// All combinations of the values that attributes list.
pub(super) fn instances(
    source: &ItemSource,
    dimensions: &[Name],
    errors: &mut Diagnostics,
) -> Vec<Vec<(String, usize)>> {
    let before = errors.len();
    for (name, values) in &source.device {
        if !dimensions.iter().any(|d| d.text == name.text) {
            let names = dimensions.iter().map(|d| d.text.as_str());
            let suggestion = suggest::nearest(&name.text, names);
            let error = CheckError::UnknownOption {
                name: name.text.clone(),
                suggestion: suggestion.map(|s| s.name),
            };
            errors.push(name.region(), error);
        }
        for value in values {
            match usize::try_from(value.value) {
                Ok(1..=LARGEST) => {}
                Ok(0) => errors.push(value.region, CheckError::ZeroDimension),
                _ => errors.push(value.region, CheckError::TooLarge { limit: LARGEST }),
            }
        }
    }
    let Some((first, _)) = source.device.first().filter(|_| errors.len() == before) else {
        return vec![];
    };
    let mut all: Vec<Vec<(String, usize)>> = vec![vec![]];
    for dimension in dimensions {
        let own = source
            .device
            .iter()
            .filter(|(n, _)| n.text == dimension.text);
        let mut values: Vec<usize> = own
            .flat_map(|(_, values)| values)
            .filter_map(|v| usize::try_from(v.value).ok())
            .collect();
        values.sort_unstable();
        values.dedup();
        if values.is_empty() {
            let error = CheckError::NoValues {
                name: dimension.text.clone(),
            };
            errors.push(first.region(), error);
            return vec![];
        }
        if all.len() * values.len() > MOST_INSTANCES {
            let limit = MOST_INSTANCES;
            errors.push(first.region(), CheckError::TooManyValues { limit });
            return vec![];
        }
        all = all
            .iter()
            .flat_map(|before| {
                values.iter().map(|&value| {
                    let mut all = before.clone();
                    all.push((dimension.text.clone(), value));
                    all
                })
            })
            .collect();
    }
    if errors.len() == before { all } else { vec![] }
}

/// What the expansion calls its own type parameters.
const TAKEN: [&str; 10] = ["A", "F", "I", "P", "S", "T", "V", "W", "X", "Y"];

/// Checks the variables of an item; those with errors are left out.
pub(super) fn check(source: &ItemSource, errors: &mut Diagnostics) -> Signature {
    let mut signature = Signature {
        attributes: source.attributes.clone(),
        arithmetic: source.arithmetic,
        expand: source.expand,
        visibility: source.visibility.clone(),
        name: source.name.clone(),
        scalar: Scalar::F32,
        dimensions: source.dimensions.clone(),
        instances: vec![],
        variables: vec![],
    };
    for (number, name) in source.dimensions.iter().enumerate() {
        let earlier = source.dimensions.iter().take(number);
        let generic = source.generic.iter();
        if TAKEN.contains(&name.text.as_str())
            || scope::reserved(&name.text).is_some()
            || earlier.chain(generic).any(|n| n.text == name.text)
        {
            errors.push(
                name.region(),
                CheckError::DimensionTaken {
                    name: name.text.clone(),
                },
            );
        }
    }
    if source.parameters.is_some() {
        signature.instances = instances(source, &source.dimensions, errors);
    }
    let generic = source.generic.as_ref().map(|g| g.text.as_str());
    let parameters = source.parameters.as_deref().unwrap_or_default();
    let mut first: Option<(&Parameter, &TypeSource)> = None;
    for (number, parameter) in parameters.iter().enumerate() {
        let name = &parameter.name;
        if let Some(why) = scope::reserved(&name.text) {
            errors.push(
                name.region(),
                CheckError::Reserved {
                    name: name.text.clone(),
                    why,
                },
            );
        }
        if parameters
            .iter()
            .take(number)
            .any(|p| p.name.text == name.text)
        {
            errors.push(
                name.region(),
                CheckError::Duplicate {
                    name: name.text.clone(),
                    what: "variable",
                },
            );
            continue;
        }
        let Some(ty) = &parameter.ty else { continue };
        let shape = shape(ty, largest(!source.dimensions.is_empty()), errors);
        let known =
            matches!(ty.scalar.text.as_str(), "f32" | "f64") || generic == Some(&ty.scalar.text);
        if !known {
            errors.push(ty.scalar.region(), unknown_type(&ty.scalar.text, generic));
        }
        match first {
            _ if !known => {}
            None => first = Some((parameter, ty)),
            Some((first, expected)) if expected.scalar.text != ty.scalar.text => {
                let error = CheckError::MixedFloats {
                    first: first.name.text.clone(),
                    expected: expected.scalar.text.clone(),
                    name: name.text.clone(),
                    found: ty.scalar.text.clone(),
                };
                errors.push(ty.scalar.region(), error);
            }
            Some(_) => {}
        }
        if let Some(shape) = shape {
            let axis = split_index(&name.text).map(|(_, axis)| axis);
            signature.variables.push(Variable {
                name: name.clone(),
                axis,
                shape: if ty.complex { planar(shape) } else { shape },
                complex: ty.complex.then_some(shape),
            });
        }
    }
    signature.scalar = match (first, &source.generic) {
        (Some((_, ty)), _) if ty.scalar.text == "f32" => Scalar::F32,
        (Some((_, ty)), _) if ty.scalar.text == "f64" => Scalar::F64,
        (_, Some(generic)) => Scalar::Generic(generic.clone()),
        _ => Scalar::F32,
    };
    if let Some(generic) = &source.generic
        // Unless the variables could not be read at all.
        && (source.parameters.is_some() || source.body.is_some())
        && !parameters
            .iter()
            .any(|p| p.ty.as_ref().is_none_or(|t| t.scalar.text == generic.text))
    {
        errors.push(
            generic.region(),
            CheckError::UnusedTypeParameter {
                name: generic.text.clone(),
            },
        );
    }
    signature
}

fn shape(ty: &TypeSource, limit: usize, errors: &mut Diagnostics) -> Option<Shape> {
    if let Some(zero) = ty.dimensions.iter().find(|d| d.value == 0) {
        errors.push(zero.region, CheckError::ZeroDimension);
        return None;
    }
    let mut size: usize = 1;
    for dimension in &ty.dimensions {
        size = size.saturating_mul(usize::try_from(dimension.value).unwrap_or(usize::MAX));
    }
    if size > limit {
        errors.push(ty.region, CheckError::TooLarge { limit });
        return None;
    }
    let dimension = |k: usize| {
        ty.dimensions
            .get(k)
            .and_then(|d| usize::try_from(d.value).ok())
    };
    match ty.dimensions.len() {
        0 => Some(Shape::Scalar),
        1 => Some(Shape::Vector(dimension(0)?)),
        2 => Some(Shape::Matrix(dimension(0)?, dimension(1)?)),
        _ => {
            errors.push(ty.region, CheckError::TooManyDimensions);
            None
        }
    }
}

fn unknown_type(name: &str, generic: Option<&str>) -> CheckError {
    let float = match (name, generic) {
        (
            "f16" | "bf16" | "i8" | "i16" | "i32" | "u8" | "u16" | "u32" | "float" | "float32"
            | "F32",
            _,
        ) => Some("f32"),
        (
            "f128" | "i64" | "u64" | "i128" | "u128" | "isize" | "usize" | "double" | "float64"
            | "F64",
            _,
        ) => Some("f64"),
        _ => None,
    };
    CheckError::UnknownType {
        name: name.into(),
        float,
    }
}
