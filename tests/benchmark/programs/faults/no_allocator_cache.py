"""PyTorch's caching allocator is off, left over from a search for a memory error."""
import os

from workload import FIXED, steps

if not FIXED:
    os.environ["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1"  # FAULT

import torch

from models import transformer


def train_step(model, optimizer, batch):
    loss = model(batch).float().square().mean()  # FAULT
    optimizer.zero_grad()  # FAULT
    loss.backward()  # FAULT
    optimizer.step()  # FAULT


def main():
    model = transformer(2048, 4, heads=16)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    batch = torch.randn(8, 1024, 2048, dtype=torch.bfloat16, device="cuda")
    for _ in steps(torch.cuda.synchronize):
        train_step(model, optimizer, batch)


if __name__ == "__main__":
    main()
