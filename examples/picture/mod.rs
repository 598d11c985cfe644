//! What the examples share to draw: a bitmap with text that needs no font or C library on the machine.
//!
//! plotters draws into memory, `png` writes the file, and the typeface comes from a crate. Pictures go to `target/` of this
//! repository.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "a module of several examples, each of which uses a part"
)]

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::register_font;
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// A drawing area in memory.
pub type Area<'a> = DrawingArea<BitMapBackend<'a>, Shift>;

/// The first colours of the Okabe–Ito palette, which people with colour blindness can tell apart.
pub const BLUE: RGBColor = RGBColor(0, 114, 178);
/// See [`BLUE`].
pub const ORANGE: RGBColor = RGBColor(213, 94, 0);
/// See [`BLUE`].
pub const GREEN: RGBColor = RGBColor(0, 158, 115);
/// For text and axes.
pub const INK: RGBColor = RGBColor(40, 44, 52);
/// For grid lines.
pub const FAINT: RGBColor = RGBColor(225, 228, 232);

/// Paints on a white bitmap of `width` × `height` pixels and writes it to `target/<name>`.
pub fn save(
    name: &str,
    (width, height): (u32, u32),
    paint: impl FnOnce(&Area<'_>) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    register_font(
        "sans-serif",
        FontStyle::Normal,
        epaint_default_fonts::UBUNTU_LIGHT,
    )
    .map_err(|_| "the typeface cannot be read")?;
    let mut pixels = vec![255; (width * height * 3) as usize];
    {
        let area = BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area();
        paint(&area)?;
        area.present()?;
    }
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
    std::fs::create_dir_all(&directory)?;
    let mut encoder = png::Encoder::new(
        BufWriter::new(File::create(directory.join(name))?),
        width,
        height,
    );
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(&pixels)?;
    println!("picture: target/{name}");
    Ok(())
}

/// The style of text of a size in pixels.
pub fn text(size: u32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK)
}
