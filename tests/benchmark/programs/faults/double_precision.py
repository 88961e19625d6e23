"""A table from NumPy is in double precision, and the network is cast to its type: all products are, too."""
import numpy as np
import torch

from models import mlp
from workload import FIXED, steps

COLUMNS, BATCH, BATCHES = 256, 8192, 4


def make_table():
    table = np.random.default_rng(0).standard_normal((BATCHES * BATCH, COLUMNS)) * 3 + 1
    table = torch.from_numpy((table - table.mean(0)) / table.std(0)).cuda()
    return table.float() if FIXED else table


def cast(model, table):
    return model.to(table.dtype)  # FAULT


def forward(model, batch):
    return model(batch)  # FAULT


def train_step(model, optimizer, batch, target):
    loss = (forward(model, batch) - target).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    table = make_table()
    batches = table.split(BATCH)
    targets = (table[:, :1] * 0.5 - table[:, 1:2]).split(BATCH)
    model = cast(mlp(4096, 3, classes=1, inputs=COLUMNS), table)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, fused=True)
    for step in steps(torch.cuda.synchronize):
        train_step(model, optimizer, batches[step % BATCHES], targets[step % BATCHES])


if __name__ == "__main__":
    main()
