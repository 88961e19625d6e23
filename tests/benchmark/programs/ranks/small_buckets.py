"""DistributedDataParallel with buckets of 10 KB: each of 300 small gradients is reduced alone."""
import torch
from torch import nn

from job import parallel, start, steps
from workload import FIXED


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = nn.ParameterList([torch.ones(2048) for _ in range(300)])
        self.first = nn.Linear(2048, 2048)

    def forward(self, x):
        return self.first(x) * torch.stack(list(self.scales)).sum(0)


def main():
    start()
    model = parallel(Scaled().cuda(), bucket_cap_mb=25 if FIXED else 0.01)
    optimizer = torch.optim.SGD(model.parameters(), 1e-4, foreach=True)
    inputs = torch.randn(8192, 2048, device="cuda")
    for _ in steps():
        loss = model(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()  # FAULT
        optimizer.step()


if __name__ == "__main__":
    main()
