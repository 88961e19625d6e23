"""Batches differ in size from step to step, and by rank: in each step another rank is late."""
import random

import torch

from job import RANK, layers, parallel, start, steps
from workload import FIXED


def batch_of(number, inputs):
    if FIXED:
        return inputs[:8192]
    rows = random.Random(number * 2 + RANK).choice((4096, 12288))
    return inputs[:rows]


def main():
    start()
    model = parallel(layers(2048, 6))
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    inputs = torch.randn(12288, 2048, device="cuda")
    for number in steps():
        loss = model(batch_of(number, inputs)).square().mean()  # FAULT
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
