"""Each batch is parsed from text by a Python loop, in the process that trains."""
import torch
from torch import nn

from loading import load_ahead, load_now
from models import mlp
from workload import FIXED, steps

ROWS, FEATURES = 1024, 128


def parse_batch(lines):
    rows = []
    for line in lines:  # FAULT
        rows.append([float(value) for value in line.split(",")])  # FAULT
    return torch.tensor(rows)  # FAULT


def text_batches(count):
    return [[",".join(map(str, row)) for row in torch.randn(ROWS, FEATURES).tolist()] for _ in range(count)]


def train_step(model, optimizer, batch, labels):
    loss = nn.functional.cross_entropy(model(batch), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = mlp(8192, 4, inputs=FEATURES)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, fused=True)
    labels = torch.randint(10, (ROWS,), device="cuda")
    batches = (load_ahead if FIXED else load_now)(parse_batch, text_batches(4))
    for _ in steps(torch.cuda.synchronize):
        train_step(model, optimizer, next(batches).cuda(), labels)


if __name__ == "__main__":
    main()
