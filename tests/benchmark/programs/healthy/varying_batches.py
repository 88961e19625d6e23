"""Batches have one of eight sizes, in changing order: memory goes up and down with them."""
import torch

from models import mlp
from workload import steps


def train_step(model, optimizer, batch):
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = mlp(4096, 4, inputs=1024)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, fused=True)
    data = torch.randn(16384, 1024, device="cuda")
    for step in steps(torch.cuda.synchronize):
        train_step(model, optimizer, data[:2048 * (1 + step * 5 % 8)])


if __name__ == "__main__":
    main()
