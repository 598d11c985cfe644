use keops::keops;

keops! {
    pub fn f(x_i: [f32; 3], y_j: [f32; 2]) = {
        let difference = x_i - y_j;
        sum_j exp(-sqnorm2(difference))
    };
}

fn main() {}
