"""The next layer waits until each layer's activations are summed over the ranks: tensor parallelism without overlap."""
import torch
import torch.distributed as dist

from job import layers, start, steps
from workload import FIXED


def forward(model, x):
    for layer in model:
        x = layer(x)
        if not FIXED:
            dist.all_reduce(x)  # FAULT
    return x


def main():
    start()
    model = layers(4096, 8).half()
    inputs = torch.randn(8192, 4096, device="cuda", dtype=torch.half)
    with torch.no_grad():
        for _ in steps():
            forward(model, inputs)


if __name__ == "__main__":
    main()
