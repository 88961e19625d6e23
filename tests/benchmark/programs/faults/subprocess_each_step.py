"""Every step starts nvidia-smi to log the memory in use, and waits until it ends."""
import subprocess

import torch
from torch import nn

from models import mlp
from workload import FIXED, steps

QUERY = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]


def memory_in_use():
    if FIXED:
        return torch.cuda.memory_reserved() >> 20
    return int(subprocess.run(QUERY, capture_output=True, text=True, check=True).stdout.split()[0])  # FAULT


def train_step(model, optimizer, batch, labels):
    loss = nn.functional.cross_entropy(model(batch), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = mlp(4096, 6)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9, fused=True)
    batches = torch.randn(4, 8192, 4096, device="cuda")
    labels = torch.randint(10, (8192,), device="cuda")
    history = []
    for step in steps(torch.cuda.synchronize):
        train_step(model, optimizer, batches[step % len(batches)], labels)
        history.append(memory_in_use())


if __name__ == "__main__":
    main()
