"""The cache of the allocator is emptied after every step, so that every step allocates again."""
import torch

from models import transformer
from workload import FIXED, steps


def free_memory():
    torch.cuda.empty_cache()  # FAULT


def train_step(model, optimizer, batch):
    loss = model(batch).float().square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = transformer(2048, 4, heads=16)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    batch = torch.randn(8, 1024, 2048, dtype=torch.bfloat16, device="cuda")
    for _ in steps(torch.cuda.synchronize):
        train_step(model, optimizer, batch)
        if not FIXED:
            free_memory()


if __name__ == "__main__":
    main()
