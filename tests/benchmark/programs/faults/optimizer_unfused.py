"""AdamW updates each of 300 parameters by kernels of its own."""
import torch

from models import transformer
from workload import steps


def make_optimizer(model):
    return torch.optim.AdamW(model.parameters(), 1e-4, foreach=False)  # FAULT


def update(optimizer):
    optimizer.step()  # FAULT
    optimizer.zero_grad()


def main():
    model = transformer(512, 24)
    optimizer = make_optimizer(model)
    batch = torch.randn(16, 512, 512, dtype=torch.bfloat16, device="cuda")
    for _ in steps(torch.cuda.synchronize):
        model(batch).float().square().mean().backward()
        update(optimizer)


if __name__ == "__main__":
    main()
