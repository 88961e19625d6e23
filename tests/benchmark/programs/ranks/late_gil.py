"""A thread of one rank computes in Python and holds the interpreter lock."""
import threading

import torch

from job import RANK, train
from workload import FIXED


def count_forever():
    total = 0
    while True:
        total += 1  # FAULT


def prepare(number, inputs):
    if number == 0 and RANK == 1 and not FIXED:
        threading.Thread(target=count_forever, daemon=True).start()


if __name__ == "__main__":
    train(prepare)
