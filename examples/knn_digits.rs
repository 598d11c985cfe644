//! Reads handwritten digits by their five nearest neighbours.
//!
//! ```sh
//! cargo run --release --example knn_digits
//! ```
//!
//! Data: *Optical Recognition of Handwritten Digits* (E. Alpaydin, C. Kaynak, 1998; UCI Machine Learning Repository,
//! CC BY 4.0) as scikit-learn ships it (BSD 3-clause); see `data/README.md`. The first 898 images are the training set, the
//! last 899 the test set: scikit-learn's `train_test_split(test_size=0.5, shuffle=False)`.
//!
//! `KNeighborsClassifier(n_neighbors=5)` of scikit-learn 1.9.1 is right on 859 of the 899, and so is this. Pixels are
//! integers, so distances are exact at f32 and ties are real: 20 test images have a tie for fifth place (the lower index wins
//! here) and 8 a tie of votes (the smaller digit wins, as in scikit-learn). Its brute-force and tree searches give the same
//! 859.

mod picture;

use keops::keops;
use ndarray::{Array2, ArrayView1, s};
use plotters::prelude::*;
use std::error::Error;
use std::time::Instant;

const TRAINING: usize = 898;
const EXPECTED: usize = 859;

keops! {
    /// The rows of the five training images nearest to each test image, nearest first.
    fn nearest(x_i: [f32; 64], y_j: [f32; 64]) = argkmin_j::<5> sqdist(x_i, y_j);
}

fn main() -> Result<(), Box<dyn Error>> {
    let (images, labels) = digits()?;
    let (training, test) = (
        images.slice(s![..TRAINING, ..]),
        images.slice(s![TRAINING.., ..]),
    );
    let (known, truth) = labels.split_at(TRAINING);

    let start = Instant::now();
    let neighbours: Array2<usize> = nearest(test, training).eval()?;
    let time = start.elapsed();

    let read: Vec<usize> = neighbours
        .rows()
        .into_iter()
        .map(|row| vote(row, known))
        .collect();
    let right = read.iter().zip(truth).filter(|(a, b)| a == b).count();
    println!(
        "{} training and {} test images, found in {:.2} ms",
        known.len(),
        truth.len(),
        time.as_secs_f64() * 1e3
    );
    print_confusion(truth, &read);
    println!(
        "right: {right} of {} ({:.2} %)",
        truth.len(),
        100.0 * right as f64 / truth.len() as f64
    );
    assert_eq!(right, EXPECTED, "scikit-learn is right on {EXPECTED}");

    let wrong: Vec<usize> = (0..truth.len()).filter(|&i| read[i] != truth[i]).collect();
    plot(&wrong, &images, truth, &read, &neighbours)
}

/// The images, one a row, and their labels.
fn digits() -> Result<(Array2<f32>, Vec<usize>), Box<dyn Error>> {
    let mut pixels = vec![];
    let mut labels = vec![];
    for line in include_str!("data/digits.txt").lines() {
        let (label, image) = line
            .split_once(' ')
            .ok_or("a line is a label and an image")?;
        labels.push(label.parse()?);
        for pixel in image.chars() {
            pixels.push(pixel.to_digit(17).ok_or("a pixel is a digit in base 17")? as f32);
        }
    }
    Ok((Array2::from_shape_vec((labels.len(), 64), pixels)?, labels))
}

/// The digit most neighbours have; of several, the smallest.
fn vote(neighbours: ArrayView1<'_, usize>, known: &[usize]) -> usize {
    let mut votes = [0; 10];
    for &neighbour in neighbours {
        votes[known[neighbour]] += 1;
    }
    (0..10).rev().max_by_key(|&digit| votes[digit]).unwrap_or(0)
}

fn print_confusion(truth: &[usize], read: &[usize]) {
    let mut counts = [[0; 10]; 10];
    for (&t, &r) in truth.iter().zip(read) {
        counts[t][r] += 1;
    }
    println!("confusion matrix (row: the digit, column: what was read)");
    println!(
        "     {}",
        (0..10).map(|d| format!("{d:4}")).collect::<String>()
    );
    for (digit, row) in counts.iter().enumerate() {
        println!(
            "  {digit}: {}",
            row.iter()
                .map(|&n| if n == 0 {
                    "   .".into()
                } else {
                    format!("{n:4}")
                })
                .collect::<String>()
        );
    }
}

/// The first 12 images that were misread, each beside its five neighbours.
fn plot(
    wrong: &[usize],
    images: &Array2<f32>,
    truth: &[usize],
    read: &[usize],
    neighbours: &Array2<usize>,
) -> Result<(), Box<dyn Error>> {
    const PIXEL: i32 = 8;
    let side = 8 * PIXEL;
    picture::save("knn_digits.png", (1050, 460), |area| {
        let title = format!(
            "The first 12 of {} misread digits, and their five nearest neighbours",
            wrong.len()
        );
        area.draw(&Text::new(title, (24, 16), picture::text(26)))?;
        for (n, &i) in wrong.iter().take(12).enumerate() {
            let (left, top) = (24 + (n as i32 / 4) * 342, 64 + (n as i32 % 4) * 100);
            draw(
                area,
                images.row(TRAINING + i),
                (left, top),
                PIXEL,
                picture::ORANGE,
            )?;
            for (k, &j) in neighbours.row(i).iter().enumerate() {
                let small = PIXEL / 2;
                let at = (left + side + 14 + k as i32 * (8 * small + 6), top);
                draw(area, images.row(j), at, small, picture::BLUE)?;
            }
            let caption = format!("a {} read as {}", truth[i], read[i]);
            area.draw(&Text::new(
                caption,
                (left + side + 14, top + 44),
                picture::text(20),
            ))?;
        }
        Ok(())
    })
}

/// One image, dark on light, in a frame.
fn draw(
    area: &picture::Area<'_>,
    image: ArrayView1<'_, f32>,
    (left, top): (i32, i32),
    pixel: i32,
    frame: RGBColor,
) -> Result<(), Box<dyn Error>> {
    for (n, &value) in image.iter().enumerate() {
        let (x, y) = (left + (n as i32 % 8) * pixel, top + (n as i32 / 8) * pixel);
        let shade = (255.0 * (1.0 - value / 16.0)) as u8;
        let style = RGBColor(shade, shade, shade).filled();
        area.draw(&Rectangle::new([(x, y), (x + pixel, y + pixel)], style))?;
    }
    let corners = [(left - 1, top - 1), (left + 8 * pixel, top + 8 * pixel)];
    area.draw(&Rectangle::new(corners, frame))?;
    Ok(())
}
