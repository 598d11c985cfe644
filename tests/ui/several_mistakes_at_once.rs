use keops::keops;

keops! {
    pub fn f(x_i: [f32; 3], y_j: [f32; 2]) = sum_j exp(-sqdist(x_i, y_j)) * sinus(x_i[0]);
    pub fn g(x_i: [f32; 3], y_j: [f32; 3], unused: f32) = sum_j x_i[7] * y_j;
}

fn main() {}
