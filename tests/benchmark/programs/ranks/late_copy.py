"""One rank copies a large pageable batch in every step; the others have theirs on the GPU."""
import torch

from job import RANK, layers, parallel, start, steps
from workload import FIXED

BATCHES = torch.randn(2, 8192, 2048)


def prepare(number, inputs):
    if RANK == 1 and not FIXED:
        inputs.copy_(BATCHES[number % 2])  # FAULT


def main():
    start()
    model = parallel(layers(2048, 6))
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    inputs = torch.randn(8192, 2048, device="cuda")
    for number in steps():
        prepare(number, inputs)
        loss = model(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
