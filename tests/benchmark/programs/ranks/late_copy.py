"""One rank copies a large pageable batch in every step; the others have theirs on the GPU."""
import torch

from job import RANK, train
from workload import FIXED

BATCHES = torch.randn(2, 8192, 2048)


def prepare(number, inputs):
    if RANK == 1 and not FIXED:
        inputs.copy_(BATCHES[number % 2])  # FAULT


if __name__ == "__main__":
    train(prepare)
