"""Rank 0 writes the metrics of the last steps as text in every step."""
import json

import torch

from job import RANK, layers, parallel, start, steps
from workload import FIXED

HISTORY = []


def prepare(number, inputs):
    if RANK == 0 and not FIXED:
        HISTORY.append({f"metric{i}": number / (i + 1) for i in range(200)})
        json.dumps(HISTORY[-100:], indent=1)  # FAULT


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
