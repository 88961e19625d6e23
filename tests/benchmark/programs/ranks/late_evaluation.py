"""Rank 0 evaluates the model in every step, the others do not."""
import torch

from job import RANK, layers, parallel, start, steps
from workload import FIXED


def evaluate(model, samples):
    with torch.no_grad():
        return model(samples).square().mean()  # FAULT


def main():
    start()
    network = layers(2048, 6)
    model = parallel(network)
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    inputs = torch.randn(8192, 2048, device="cuda")
    for _ in steps():
        loss = model(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if RANK == 0 and not FIXED:
            evaluate(network, inputs)


if __name__ == "__main__":
    main()
