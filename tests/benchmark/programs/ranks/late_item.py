"""One rank checks its values for infinities part by part, and reads each result back."""
import torch

from job import RANK, train
from workload import FIXED


def prepare(number, inputs):
    if RANK == 0 and not FIXED:
        for part in inputs.split(64):
            if not part.isfinite().all().item():  # FAULT
                raise ValueError("infinite input")


if __name__ == "__main__":
    train(prepare)
