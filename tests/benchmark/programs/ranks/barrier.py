"""All ranks wait for each other before each step, so that no host can prepare the next one while the GPU works."""
import numpy as np
import torch
import torch.distributed as dist

from job import layers, parallel, start, steps
from workload import FIXED


def wait_for_all():
    if not FIXED:
        dist.barrier()  # FAULT


def choose_samples(generator):
    return np.sort(generator.permutation(1 << 16)[:1024]).sum()


def main():
    start()
    model = parallel(layers(2048, 6))
    optimizer = torch.optim.SGD(model.parameters(), 1e-4, foreach=True)
    inputs = torch.randn(24576, 2048, device="cuda")
    generator = np.random.default_rng(1)
    for _ in steps():
        wait_for_all()
        for _ in range(3):
            choose_samples(generator)
        loss = model(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
