"""All ranks wait for each other before each step."""
import torch
import torch.distributed as dist

from job import layers, parallel, start, steps
from workload import FIXED


def wait_for_all():
    if not FIXED:
        dist.barrier()  # FAULT


def main():
    start()
    model = parallel(layers(1024, 8))
    optimizer = torch.optim.SGD(model.parameters(), 1e-4, foreach=True)
    inputs = torch.randn(8192, 1024, device="cuda")
    for _ in steps():
        wait_for_all()
        loss = model(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
