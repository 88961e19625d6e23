"""Counters of 400 classes are summed over the ranks one by one."""
import torch
import torch.distributed as dist

from job import layers, parallel, start, steps
from workload import FIXED

CLASSES = 400


def sum_counters(counters):
    if FIXED:
        together = torch.cat(counters)
        dist.all_reduce(together)
        return
    for counter in counters:
        dist.all_reduce(counter)  # FAULT


def main():
    start()
    model = parallel(layers(2048, 6))
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    inputs = torch.randn(8192, 2048, device="cuda")
    counters = [torch.zeros(16, device="cuda") for _ in range(CLASSES)]
    for _ in steps():
        loss = model(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        sum_counters(counters)


if __name__ == "__main__":
    main()
