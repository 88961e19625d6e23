"""Each batch is parsed from text by a Python loop, in the process that trains."""
import torch
from torch import nn

from models import mlp
from workload import steps

ROWS, FEATURES = 256, 512


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
    model = mlp(FEATURES, 6)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, fused=True)
    labels = torch.randint(10, (ROWS,), device="cuda")
    batches = text_batches(4)
    for step in steps(torch.cuda.synchronize):
        batch = parse_batch(batches[step % len(batches)])
        train_step(model, optimizer, batch.cuda(), labels)


if __name__ == "__main__":
    main()
