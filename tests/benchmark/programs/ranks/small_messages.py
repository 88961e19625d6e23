"""Gradients are reduced one by one: hundreds of collectives of 64 KiB."""
import torch
import torch.distributed as dist

from job import layers, start, steps
from workload import FIXED


def reduce_gradients(parameters):
    if FIXED:
        flat = torch.cat([parameter.grad.flatten() for parameter in parameters])
        dist.all_reduce(flat)
        pieces = flat.split([parameter.numel() for parameter in parameters])
        torch._foreach_copy_([parameter.grad.flatten() for parameter in parameters], list(pieces))
        return
    for parameter in parameters:
        dist.all_reduce(parameter.grad)  # FAULT


def main():
    start()
    model = layers(128, 100)
    parameters = list(model.parameters())
    optimizer = torch.optim.SGD(parameters, 1e-4, foreach=True)
    inputs = torch.randn(1 << 17, 128, device="cuda")
    for _ in steps():
        loss = model(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        reduce_gradients(parameters)
        optimizer.step()


if __name__ == "__main__":
    main()
