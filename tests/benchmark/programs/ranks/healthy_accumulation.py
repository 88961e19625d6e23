"""Gradients of four micro-batches are accumulated before they are reduced."""
import contextlib

import torch

from job import layers, parallel, start, steps

MICRO_BATCHES = 4


def main():
    start()
    model = parallel(layers(2048, 8), gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(model.parameters(), 1e-4, foreach=True)
    inputs = torch.randn(8192, 2048, device="cuda")
    for _ in steps():
        optimizer.zero_grad()
        for micro in range(MICRO_BATCHES):
            last = micro == MICRO_BATCHES - 1
            with contextlib.nullcontext() if last else model.no_sync():
                model(inputs).square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
