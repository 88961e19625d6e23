"""One rank limits its rate with a sleep in every step."""
import time

import torch

from job import RANK, train
from workload import FIXED


def prepare(number, inputs):
    if RANK == 1 and not FIXED:
        time.sleep(0.02)  # FAULT


if __name__ == "__main__":
    train(prepare)
