"""Validation keeps every loss, and with it the graph and the features that it was computed from."""
import torch
from torch import nn

from models import mlp
from workload import FIXED, steps


def validate(backbone, head, batch, labels, losses):
    features = backbone(batch)
    loss = nn.functional.cross_entropy(head(features), labels)  # FAULT
    losses.append(loss.detach() if FIXED else loss)  # FAULT


def main():
    backbone = mlp(4096, 4, classes=128).requires_grad_(False)
    head = nn.Linear(128, 10).cuda()
    batches = torch.randn(8, 4096, 4096, device="cuda")
    labels = torch.randint(10, (4096,), device="cuda")
    losses = []
    for step in steps(torch.cuda.synchronize):
        validate(backbone, head, batches[step % len(batches)], labels, losses)
    print(f"peak {torch.cuda.max_memory_allocated() / 1e9:.1f} GB")


if __name__ == "__main__":
    main()
