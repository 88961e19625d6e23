"""One rank limits its rate with a sleep in every step."""
import time

import torch

from job import RANK, layers, parallel, start, steps
from workload import FIXED


def prepare(number, inputs):
    if RANK == 1 and not FIXED:
        time.sleep(0.02)  # FAULT


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
