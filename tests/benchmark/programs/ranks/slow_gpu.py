"""Another process, which is not recorded, uses the GPU of one rank."""
import os
import subprocess
import sys

import torch

from job import RANK, layers, parallel, start, steps
from workload import FIXED

LOAD = """
import torch
data = torch.randn(64 << 20, device='cuda:1')
while True:
    for _ in range(20): data.mul_(1.0)
    torch.cuda.synchronize()
"""


def main():
    start()
    load = None
    if RANK == 1 and not FIXED:
        environment = {name: value for name, value in os.environ.items() if name != "CUDA_INJECTION64_PATH"}
        load = subprocess.Popen([sys.executable, "-c", LOAD], env=environment)  # FAULT
    model = parallel(layers(2048, 6))
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    inputs = torch.randn(8192, 2048, device="cuda")
    for _ in steps():
        loss = model(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if load is not None:
        load.kill()
        load.wait()


if __name__ == "__main__":
    main()
