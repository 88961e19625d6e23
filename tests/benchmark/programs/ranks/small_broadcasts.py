"""Running statistics of 400 layers are sent from rank 0 one by one."""
import torch
import torch.distributed as dist

from job import layers, parallel, start, steps
from workload import FIXED

BUFFERS = 400


def send_statistics(buffers):
    if FIXED:
        dist.broadcast(torch.cat(buffers), 0)
        return
    for buffer in buffers:
        dist.broadcast(buffer, 0)  # FAULT


def main():
    start()
    model = parallel(layers(2048, 6))
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    inputs = torch.randn(8192, 2048, device="cuda")
    buffers = [torch.zeros(64, device="cuda") for _ in range(BUFFERS)]
    for _ in steps():
        send_statistics(buffers)
        loss = model(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
