"""Rank 0 saves the model in every 20th step, and the others wait for it."""
import os
import tempfile

import torch

from job import RANK, layers, parallel, start, steps
from workload import FIXED


def save(model, folder):
    state = {name: value.cpu() for name, value in model.state_dict().items()}
    torch.save(state, os.path.join(folder, "model.pt"))  # FAULT


def main():
    start()
    model = parallel(layers(2048, 6))
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    inputs = torch.randn(8192, 2048, device="cuda")
    with tempfile.TemporaryDirectory() as folder:
        for number in steps():
            loss = model(inputs).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if number % 20 == 19 and RANK == 0 and not FIXED:
                save(model, folder)


if __name__ == "__main__":
    main()
