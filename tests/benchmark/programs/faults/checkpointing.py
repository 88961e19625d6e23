"""Every block is checkpointed although memory is plentiful: backward computes the forward pass again."""
import torch
from torch.utils.checkpoint import checkpoint

from models import transformer
from workload import FIXED, steps


def forward(blocks, x):
    for block in blocks:
        x = block(x) if FIXED else checkpoint(block, x, use_reentrant=False)  # FAULT
    return x


def train_step(blocks, optimizer, batch):
    loss = forward(blocks, batch).float().square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    blocks = transformer(2048, 6, heads=16)
    optimizer = torch.optim.AdamW(blocks.parameters(), 1e-4, fused=True)
    batch = torch.randn(16, 1024, 2048, dtype=torch.bfloat16, device="cuda")
    for _ in steps(torch.cuda.synchronize):
        train_step(blocks, optimizer, batch)


if __name__ == "__main__":
    main()
