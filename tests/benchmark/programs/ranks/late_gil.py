"""A thread of one rank computes in Python and holds the interpreter lock."""
import threading

import torch

from job import RANK, layers, parallel, start, steps
from workload import FIXED


def count_forever():
    total = 0
    while True:
        total += 1  # FAULT


def prepare(number, inputs):
    if number == 0 and RANK == 1 and not FIXED:
        threading.Thread(target=count_forever, daemon=True).start()


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
