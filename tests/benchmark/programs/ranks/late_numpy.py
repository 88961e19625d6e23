"""One rank sorts its samples with NumPy before every step."""
import numpy as np
import torch

from job import RANK, layers, parallel, start, steps
from workload import FIXED

LENGTHS = np.random.default_rng(0).random(1 << 18)


def prepare(number, inputs):
    if RANK == 0 and not FIXED:
        np.argsort(np.roll(LENGTHS, number))  # FAULT


def main():
    start()
    model = parallel(layers(2048, 6))
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    inputs = torch.randn(8192, 2048, device="cuda")
    for number in steps():
        prepare(number, inputs)
        loss = model(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
