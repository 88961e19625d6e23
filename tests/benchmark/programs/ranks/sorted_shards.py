"""Batches are sorted by length and cut into one part for each rank: rank 0 has all the long texts."""
import random

import torch
import torch.distributed as dist
from torch.nn.attention import SDPBackend, sdpa_kernel

from job import RANK, parallel, start, steps
from models import transformer
from workload import FIXED

WIDTH, LONGEST = 1024, 1024


def lengths_of_rank():
    order = random.Random(7)
    lengths = sorted((64 * order.randint(2, LONGEST // 64) for _ in range(400)), reverse=True)
    part = len(lengths) // dist.get_world_size()
    mine = lengths[RANK * part:(RANK + 1) * part]  # FAULT
    if FIXED:
        mine = lengths[RANK::dist.get_world_size()]
    order.shuffle(mine)  # alike on all ranks
    return mine


def train_step(model, optimizer, batch):
    loss = model(batch).float().square().mean()  # FAULT
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    start()
    lengths = lengths_of_rank()
    model = parallel(transformer(WIDTH, 6, heads=16))
    optimizer = torch.optim.AdamW(model.parameters(), 1e-5, fused=True)
    texts = torch.randn(24, LONGEST, WIDTH, dtype=torch.bfloat16, device="cuda")
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):  # cuDNN's attention would be compiled for each length
        for number in steps():
            train_step(model, optimizer, texts[:, :lengths[number % len(lengths)]])


if __name__ == "__main__":
    main()
