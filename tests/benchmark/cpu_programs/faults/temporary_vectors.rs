// Windows of a signal are copied to a new vector each.
fn energy(window: &[f64]) -> f64 {
    if cfg!(fixed) {
        return window.iter().map(|x| x * x).sum();
    }
    let copy: Vec<f64> = window.to_vec(); // FAULT
    copy.iter().map(|x| x * x).sum()
}
fn main() {
    let passes: usize = std::env::args().nth(1).map_or(4500, |a| a.parse().unwrap());
    let signal: Vec<f64> = (0..100_000).map(|i| (i % 97) as f64).collect();
    let mut sum = 0.0;
    for p in 0..passes {
        for window in signal.windows(8 + p % 8).step_by(2) {
            sum += energy(window);
        }
    }
    println!("{sum}");
}
