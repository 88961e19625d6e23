"""The gradients are brought to the host, where NumPy computes the update of the weights."""
import numpy as np
import torch

from models import mlp
from workload import FIXED, steps


class NumpyAdam:
    def __init__(self, parameters, rate):
        self.parameters = list(parameters)
        self.rate = rate
        self.first = [np.zeros(tuple(p.shape), np.float32) for p in self.parameters]
        self.second = [np.zeros(tuple(p.shape), np.float32) for p in self.parameters]
        self.staging = [torch.empty(p.shape).pin_memory() for p in self.parameters]

    def update(self, gradient, first, second):
        first *= 0.9  # FAULT
        first += 0.1 * gradient  # FAULT
        second *= 0.999  # FAULT
        second += 0.001 * gradient * gradient  # FAULT
        np.multiply(first / (np.sqrt(second) + 1e-8), -self.rate, out=gradient)  # FAULT

    def step(self):
        for parameter, first, second, staging in zip(self.parameters, self.first, self.second, self.staging):
            staging.copy_(parameter.grad)
            self.update(staging.numpy(), first, second)
            with torch.no_grad():
                parameter.add_(staging.to("cuda"))


def train_step(model, optimizer, batch):
    loss = model(batch).square().mean()
    model.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = mlp(1024, 3)
    if FIXED:
        optimizer = torch.optim.Adam(model.parameters(), 1e-4, fused=True)
    else:
        optimizer = NumpyAdam(model.parameters(), 1e-4)
    batches = torch.randn(4, 65536, 1024, device="cuda")
    for step in steps(torch.cuda.synchronize):
        train_step(model, optimizer, batches[step % len(batches)])


if __name__ == "__main__":
    main()
