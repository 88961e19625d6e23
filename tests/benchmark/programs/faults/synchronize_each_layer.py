"""Every layer is timed on the host, with a synchronisation after each."""
import time

import torch

from models import mlp
from workload import FIXED, steps


def timed_forward(model, x, seconds):
    for number, layer in enumerate(model):
        begin = time.perf_counter()
        x = layer(x)
        if not FIXED:
            torch.cuda.synchronize()  # FAULT
        seconds[number] += time.perf_counter() - begin
    return x


def main():
    model = mlp(2048, 12)
    batches = torch.randn(16, 6144, 2048, device="cuda")
    seconds = [0.0] * len(model)
    with torch.inference_mode():
        for step in steps(torch.cuda.synchronize):
            timed_forward(model, batches[step % len(batches)], seconds)


if __name__ == "__main__":
    main()
