"""Mean brightness of the tiles of a large image, on a pool of processes."""
import os
from multiprocessing import Pool

import numpy as np

SIDE = 3000
image = np.random.default_rng(1).random((SIDE, SIDE), dtype=np.float32)


def brightness(task):
    pixels, row, column = task
    return float(pixels[row:row + 500, column:column + 500].mean())


def brightness_here(corner):
    row, column = corner
    return float(image[row:row + 500, column:column + 500].mean())


def main():
    corners = [(r, c) for r in range(0, SIDE, 500) for c in range(0, SIDE, 500)]
    with Pool(2) as pool:
        if os.environ.get("FIXED"):
            means = pool.map(brightness_here, corners)
        else:
            means = pool.map(brightness, [(image, r, c) for r, c in corners], chunksize=1)
    print(f"{np.mean(means):.6f}")


if __name__ == "__main__":
    main()
