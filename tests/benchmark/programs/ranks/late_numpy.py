"""One rank sorts its samples with NumPy before every step."""
import numpy as np
import torch

from job import RANK, train
from workload import FIXED

LENGTHS = np.random.default_rng(0).random(1 << 18)


def prepare(number, inputs):
    if RANK == 0 and not FIXED:
        np.argsort(np.roll(LENGTHS, number))  # FAULT


if __name__ == "__main__":
    train(prepare)
