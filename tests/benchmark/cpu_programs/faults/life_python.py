"""The game of life, cell by cell in Python."""
import os
import sys

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 140
n = 200
if os.environ.get("FIXED"):
    import numpy as np
    grid = np.random.default_rng(1).integers(0, 2, (n, n))
    for _ in range(steps):
        around = sum(np.roll(grid, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1)) - grid
        grid = ((around == 3) | ((grid == 1) & (around == 2))).astype(int)
    print(grid.sum())
    sys.exit()

import random
random.seed(1)
grid = [[random.randint(0, 1) for _ in range(n)] for _ in range(n)]


def around(grid, i, j):
    count = 0
    for a in (-1, 0, 1):
        for b in (-1, 0, 1):
            count += grid[(i + a) % n][(j + b) % n]  # FAULT
    return count - grid[i][j]


for _ in range(steps):
    counts = [[around(grid, i, j) for j in range(n)] for i in range(n)]
    grid = [[int(counts[i][j] == 3 or (grid[i][j] == 1 and counts[i][j] == 2)) for j in range(n)] for i in range(n)]
print(sum(map(sum, grid)))
