"""One rank has batches that are half as large again as those of the others."""
import torch

from job import RANK, layers, parallel, start, steps
from workload import FIXED

ROWS = 8192


def train_step(model, optimizer, batch):
    loss = model(batch).square().mean()  # FAULT
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    start()
    model = parallel(layers(2048, 6))
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    rows = ROWS * 3 // 2 if RANK == 1 and not FIXED else ROWS
    inputs = torch.randn(rows, 2048, device="cuda")
    for _ in steps():
        train_step(model, optimizer, inputs)


if __name__ == "__main__":
    main()
