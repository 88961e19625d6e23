"""Counts primes in four ranges at the same time."""
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor


def count_primes(low, high):
    found = 0
    for number in range(low, high):
        divisor = 2
        while divisor * divisor <= number:
            if number % divisor == 0:
                break
            divisor += 1
        else:
            found += 1
    return found


def main():
    pool_type = ProcessPoolExecutor if os.environ.get("FIXED") else ThreadPoolExecutor
    step = 300_000
    ranges = [(2 + i * step, 2 + (i + 1) * step) for i in range(4)]
    with pool_type(2) as pool:
        futures = [pool.submit(count_primes, *bounds) for bounds in ranges]
        print(sum(future.result() for future in futures))


if __name__ == "__main__":
    main()
