"""One rank prepares its batches in Python, which takes 15 ms; the others have theirs ready."""
import time

import torch

from job import RANK, layers, parallel, start, steps
from workload import FIXED


def prepare_batch(inputs):
    if RANK == 1 and not FIXED:
        total, until = 0, time.perf_counter() + 0.015
        while time.perf_counter() < until:  # FAULT
            total += 1
    return inputs


def main():
    start()
    model = parallel(layers(2048, 6))
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    inputs = torch.randn(8192, 2048, device="cuda")
    for _ in steps():
        batch = prepare_batch(inputs)
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
