"""Every batch of 64 MiB is copied from ordinary, pageable memory."""
import torch

from models import mlp
from workload import FIXED, steps

BATCH, FEATURES = 4096, 4096


def next_batch(samples, step):
    first = step * BATCH % len(samples)
    return samples[first:first + BATCH].to("cuda", non_blocking=FIXED)  # FAULT


def train_step(model, optimizer, batch):
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = mlp(FEATURES, 2)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, fused=True)
    samples = torch.randn(8 * BATCH, FEATURES)
    if FIXED:
        samples = samples.pin_memory()
    for step in steps(torch.cuda.synchronize):
        train_step(model, optimizer, next_batch(samples, step))


if __name__ == "__main__":
    main()
