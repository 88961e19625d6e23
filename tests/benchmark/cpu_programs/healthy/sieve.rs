// Counts primes with a segmented sieve whose segment fits the second-level cache.
fn small_primes(limit: usize) -> Vec<usize> {
    let mut composite = vec![false; limit + 1];
    let mut primes = Vec::new();
    for n in 2..=limit {
        if composite[n] {
            continue;
        }
        primes.push(n);
        let mut m = n * n;
        while m <= limit {
            composite[m] = true;
            m += n;
        }
    }
    primes
}

fn main() {
    let limit: usize = 3_500_000_000;
    let segment = 1 << 18;
    let root = (limit as f64).sqrt() as usize + 1;
    let primes: Vec<usize> = small_primes(root).into_iter().filter(|&p| p > 2).collect();
    let mut next: Vec<usize> = primes.iter().map(|p| p * p / 2).collect();
    let mut sieve = vec![0u8; segment];
    let mut count = 1u64;
    let mut low = 0;
    while low < limit / 2 {
        sieve.fill(0);
        for (p, n) in primes.iter().zip(next.iter_mut()) {
            let mut i = *n;
            while i < segment {
                sieve[i] = 1;
                i += p;
            }
            *n = i - segment;
        }
        let end = segment.min(limit / 2 - low);
        count += sieve[..end].iter().filter(|&&c| c == 0).count() as u64;
        low += segment;
    }
    println!("{}", count - 1);
}
