// Keeps the first occurrence of each id: `contains` of a vector for each; without the fault a set.
use std::collections::HashSet;
fn main() {
    let n: u64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(120_000);
    let mut seed = 1u64;
    let ids: Vec<u64> = (0..n).map(|_| { seed = seed.wrapping_mul(6364136223846793005).wrapping_add(99991); seed >> 30 }).collect();
    println!("{}", unique(&ids).len());
}
#[inline(never)]
fn unique(ids: &[u64]) -> Vec<u64> {
    let mut kept: Vec<u64> = Vec::new();
    let mut seen = HashSet::new();
    for id in ids {
        let known = if cfg!(fixed) { !seen.insert(*id) } else { kept.contains(id) };
        if !known {
            kept.push(*id);
        }
    }
    kept
}
