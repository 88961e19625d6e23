"""One rank checks its values for infinities part by part, and reads each result back."""
import torch

from job import RANK, layers, parallel, start, steps
from workload import FIXED


def prepare(number, inputs):
    if RANK == 0 and not FIXED:
        for part in inputs.split(64):
            if not part.isfinite().all().item():  # FAULT
                raise ValueError("infinite input")


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
