"""Token sequences of different lengths are padded on the GPU: each of 1024 rows is a copy of its own."""
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from models import transformer
from workload import FIXED, steps

ROWS, TOKENS, WIDTH, WORDS = 1024, 32, 1024, 32000


def pad_on_gpu(sequences):
    batch = torch.zeros(ROWS, TOKENS, dtype=torch.int64, device="cuda")
    for row, sequence in enumerate(sequences):
        batch[row, :len(sequence)].copy_(sequence, non_blocking=True)  # FAULT
    return batch


def pad_on_host(sequences):
    return pad_sequence(sequences, batch_first=True).pin_memory().to("cuda", non_blocking=True)


def main():
    model = nn.Sequential(nn.Embedding(WORDS, WIDTH).cuda().to(torch.bfloat16), transformer(WIDTH, 2))
    storage = torch.randint(WORDS, (8192, TOKENS)).pin_memory()
    sequences = [row[:random.randint(8, TOKENS)] for row in storage]
    with torch.inference_mode():
        for _ in steps(torch.cuda.synchronize):
            chosen = random.sample(sequences, ROWS)
            model(pad_on_host(chosen) if FIXED else pad_on_gpu(chosen))


if __name__ == "__main__":
    main()
