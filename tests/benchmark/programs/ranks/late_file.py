"""One rank reads its samples from many small files; the others have theirs in memory."""
import os
import tempfile

import torch

from job import RANK, train
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


if __name__ == "__main__":
    train(prepare)
