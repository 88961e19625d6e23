"""Compound interest of many accounts, read from a CSV-like list with missing values."""
import os

import numpy as np


def read(count):
    rng = np.random.default_rng(6)
    rows = [[float(b), float(r), None if i % 1000 == 0 else "ok"]
            for i, (b, r) in enumerate(zip(rng.random(count) * 1000, rng.random(count) * 0.05))]
    return np.array(rows)


def grow(balance, rate, years):
    for _ in range(years):
        balance = balance * (1 + rate / 12) - 0.5
    return balance


def main():
    table = read(400_000)
    balance, rate = table[:, 0], table[:, 1]
    if os.environ.get("FIXED"):
        balance, rate = balance.astype(float), rate.astype(float)
    balance = grow(balance, rate, 40)
    print(f"{balance.sum():.2f}")


if __name__ == "__main__":
    main()
