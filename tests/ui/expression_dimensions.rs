use keops::keops;

fn main() {
    let (x_i, y_j) = (vec![[0.0f32; 3]; 4], vec![[0.0f32; 2]; 5]);
    let distances = keops!(min_j sqdist(x_i, y_j) where x_i: [f32; 3], y_j: [f32; 2]).eval().unwrap();
    println!("{distances}");
}
