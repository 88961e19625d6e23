"""Gradients are reduced after each of eight micro-batches, not once after the last one."""
import contextlib

import torch

from job import layers, parallel, start, steps
from workload import FIXED

MICRO_BATCHES = 8


def main():
    start()
    model = parallel(layers(4096, 8), gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(model.parameters(), 1e-4, foreach=True)
    inputs = torch.randn(1024, 4096, device="cuda")
    for _ in steps():
        optimizer.zero_grad()
        for micro in range(MICRO_BATCHES):
            skip = FIXED and micro < MICRO_BATCHES - 1
            with model.no_sync() if skip else contextlib.nullcontext():
                model(inputs).square().mean().backward()  # FAULT
        optimizer.step()


if __name__ == "__main__":
    main()
