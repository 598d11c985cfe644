use keops::keops;

keops! {
    pub fn clipped(x_i: [f32; 3], y_j: [f32; 2]) = sum_j if x_i[0] < y_j[0] { x_i } else { y_j };
}

fn main() {}
