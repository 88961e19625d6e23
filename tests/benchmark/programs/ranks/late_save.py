"""The last rank writes a backup of the weights in every eighth step, and the others wait for it."""
import os
import tempfile

import torch
import torch.distributed as dist

from job import RANK, layers, parallel, start, steps
from workload import FIXED

BACKUP_EVERY = 2000 if FIXED else 8


def backup(model, number, folder):
    torch.save({"model": model.state_dict(), "step": number}, os.path.join(folder, "last.pt"))  # FAULT


def main():
    start()
    last = dist.get_world_size() - 1
    model = parallel(layers(2048, 6))
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    inputs = torch.randn(8192, 2048, device="cuda")
    with tempfile.TemporaryDirectory() as folder:
        for number in steps():
            loss = model(inputs).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if RANK == last and number % BACKUP_EVERY == BACKUP_EVERY - 1:
                backup(model, number, folder)


if __name__ == "__main__":
    main()
