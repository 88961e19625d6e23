"""Rank 0 writes the metrics of the last steps as text in every step."""
import json

import torch

from job import RANK, train
from workload import FIXED

HISTORY = []


def prepare(number, inputs):
    if RANK == 0 and not FIXED:
        HISTORY.append({f"metric{i}": number / (i + 1) for i in range(200)})
        json.dumps(HISTORY[-100:], indent=1)  # FAULT


if __name__ == "__main__":
    train(prepare)
