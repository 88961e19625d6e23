"""Rank 0 brings the scores to the host in every step and sorts all of them, for the accuracy of the best five."""
import numpy as np
import torch
from torch import nn

from job import RANK, layers, parallel, start, steps
from workload import FIXED

CLASSES = 100


def count_hits(scores, labels):
    if FIXED:
        return (scores.topk(5).indices == labels[:, None]).sum()
    order = np.argsort(-scores.cpu().numpy(), axis=1)[:, :5]  # FAULT
    return int((order == labels.cpu().numpy()[:, None]).sum())


def main():
    start()
    model = parallel(nn.Sequential(layers(2048, 6), nn.Linear(2048, CLASSES)).cuda())
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    inputs = torch.randn(8192, 2048, device="cuda")
    labels = torch.randint(CLASSES, (8192,), device="cuda")
    hits = 0
    for _ in steps():
        scores = model(inputs)
        loss = nn.functional.cross_entropy(scores, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if RANK == 0:
            hits = hits + count_hits(scores.detach(), labels)


if __name__ == "__main__":
    main()
