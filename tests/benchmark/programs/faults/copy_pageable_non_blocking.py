"""Batches from NumPy are copied with non_blocking=True, which does nothing for pageable memory."""
import numpy as np
import torch
from torch import nn

from models import mlp
from workload import FIXED, steps

BATCH, FEATURES = 4096, 4096


def to_gpu(batch):
    return batch.to("cuda", non_blocking=True)  # FAULT


def train_step(model, optimizer, batch, labels):
    loss = nn.functional.cross_entropy(model(batch), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = mlp(FEATURES, 3)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, fused=True)
    random = np.random.default_rng(0)
    batches = [torch.from_numpy(random.standard_normal((BATCH, FEATURES), dtype=np.float32)) for _ in range(8)]
    if FIXED:
        batches = [batch.pin_memory() for batch in batches]
    labels = torch.randint(10, (BATCH,), device="cuda")
    for step in steps(torch.cuda.synchronize):
        train_step(model, optimizer, to_gpu(batches[step % len(batches)]), labels)


if __name__ == "__main__":
    main()
