// The sum of squares of a series in one accumulator: Rust does not reorder floating-point additions.
fn main() {
    let repeats: usize = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(300_000);
    let data: Vec<f64> = (0..8192).map(|i| (i % 100) as f64 * 0.01).collect();
    let mut total = 0.0;
    for r in 0..repeats {
        total += squares(&data, r as f64 * 1e-9);
    }
    println!("{}", total);
}
#[inline(never)]
fn squares(data: &[f64], mean: f64) -> f64 {
    if cfg!(fixed) {
        let mut sums = [0.0f64; 16];
        for chunk in data.chunks_exact(16) {
            for k in 0..16 {
                let d = chunk[k] - mean;
                sums[k] += d * d;
            }
        }
        return sums.iter().sum();
    }
    let mut sum = 0.0;
    for v in data {
        let d = v - mean;
        sum += d * d;
    }
    sum
}
