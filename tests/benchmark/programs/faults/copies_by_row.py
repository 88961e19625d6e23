"""Sequences of different lengths are padded on the GPU: each row is a copy of its own."""
import random

import torch

from models import transformer
from workload import steps

ROWS, TOKENS, WIDTH = 256, 64, 256


def pad_on_gpu(sequences):
    batch = torch.zeros(ROWS, TOKENS, WIDTH, dtype=torch.bfloat16, device="cuda")
    for row, sequence in enumerate(sequences):
        batch[row, :len(sequence)].copy_(sequence, non_blocking=True)  # FAULT
    return batch


def main():
    model = transformer(WIDTH, 2)
    storage = torch.randn(4096, TOKENS, WIDTH, dtype=torch.bfloat16).pin_memory()
    sequences = [row[:random.randint(16, TOKENS)] for row in storage]
    with torch.inference_mode():
        for _ in steps(torch.cuda.synchronize):
            model(pad_on_gpu(random.sample(sequences, ROWS)))


if __name__ == "__main__":
    main()
