"""A network in fp32 with PyTorch's default precision, which leaves the tensor cores unused."""
import torch
from torch import nn

from workload import FIXED, steps


def forward(model, batch):
    return model(batch)  # FAULT


def train_step(model, optimizer, batch, labels):
    loss = nn.functional.cross_entropy(forward(model, batch), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    if FIXED:
        torch.set_float32_matmul_precision("high")
    model = nn.Sequential(nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 1000))
    model.cuda()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    batches = torch.randn(8, 4096, 4096, device="cuda")
    labels = torch.randint(1000, (4096,), device="cuda")
    for step in steps(torch.cuda.synchronize):
        train_step(model, optimizer, batches[step % len(batches)], labels)


if __name__ == "__main__":
    main()
