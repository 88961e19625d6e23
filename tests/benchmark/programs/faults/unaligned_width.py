"""A network whose width is the vocabulary's 3001: its products in bfloat16 have rows that are not aligned."""
import torch

from models import mlp
from workload import FIXED, steps

WIDTH = 3008 if FIXED else 3001


def forward(model, batch):
    return model(batch)  # FAULT


def main():
    model = mlp(WIDTH, 8).to(torch.bfloat16)
    optimizer = torch.optim.SGD(model.parameters(), 1e-4, fused=True)
    batch = torch.randn(16384, WIDTH, dtype=torch.bfloat16, device="cuda")
    for _ in steps(torch.cuda.synchronize):
        forward(model, batch).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
