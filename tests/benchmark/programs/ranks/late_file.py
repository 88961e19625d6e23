"""One rank reads its samples from many small files; the others have theirs in memory."""
import os
import tempfile

import torch

from job import RANK, layers, parallel, start, steps
from workload import FIXED

FILES = 1500
FOLDER = tempfile.mkdtemp()


def name_of(sample):
    return os.path.join(FOLDER, f"{sample}.bin")


def prepare(number, inputs):
    if RANK == 1 and not FIXED:
        for sample in range(FILES if number == 0 else 0):
            with open(name_of(sample), "wb") as file:
                file.write(bytes(4096))
        for sample in range(FILES):
            with open(name_of(sample), "rb") as file:  # FAULT
                file.read()  # FAULT


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
