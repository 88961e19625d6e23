"""A batch of 1024 samples is copied to the GPU sample by sample, and stacked there."""
import random

import torch
from torch import nn

from models import mlp
from workload import FIXED, steps

SAMPLES, FEATURES, BATCH = 16384, 512, 1024


def load_batch(samples):
    chosen = random.sample(samples, BATCH)
    if FIXED:
        return torch.stack(chosen).pin_memory().to("cuda", non_blocking=True)
    on_gpu = [sample.to("cuda", non_blocking=True) for sample in chosen]  # FAULT
    return torch.stack(on_gpu)


def train_step(model, optimizer, batch, labels):
    loss = nn.functional.cross_entropy(model(batch), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = mlp(8192, 3, inputs=FEATURES)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, fused=True)
    samples = list(torch.randn(SAMPLES, FEATURES).pin_memory())
    labels = torch.randint(10, (BATCH,), device="cuda")
    for _ in steps(torch.cuda.synchronize):
        train_step(model, optimizer, load_batch(samples), labels)


if __name__ == "__main__":
    main()
