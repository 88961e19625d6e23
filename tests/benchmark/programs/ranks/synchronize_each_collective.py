"""The host waits for the GPU after each collective, and launches the next kernels late."""
import torch
import torch.distributed as dist

from job import layers, start, steps
from workload import FIXED


def reduce(x):
    dist.all_reduce(x)
    if not FIXED:
        torch.cuda.synchronize()  # FAULT


def main():
    start()
    model = layers(2048, 12).half()
    inputs = torch.randn(16384, 2048, device="cuda", dtype=torch.half)
    partial = torch.zeros(1024, device="cuda")
    with torch.no_grad():
        for _ in steps():
            x = inputs
            for layer in model:
                x = layer(x).relu()
                reduce(partial)


if __name__ == "__main__":
    main()
