"""Clips the pixels of an image one by one; without the fault with one call of NumPy."""
import os
import sys

import numpy as np


def clip(image, low, high):
    rows, columns = image.shape
    result = np.empty_like(image)
    for y in range(rows):
        for x in range(columns):
            value = image[y, x]
            if value < low:
                value = low
            elif value > high:
                value = high
            result[y, x] = value
    return result


fixed = os.environ.get("FIXED")
repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 10
rng = np.random.default_rng(1)
image = rng.normal(size=(1000, 1000))
for _ in range(repeats):
    image = np.clip(image, -2, 2) * 1.01 if fixed else clip(image, -2.0, 2.0)
print(image.sum())
