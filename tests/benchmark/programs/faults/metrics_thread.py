"""A second thread computes an error rate in pure Python, and holds the interpreter lock meanwhile."""
import multiprocessing
import random
import threading

import torch
from torch import nn

from models import mlp
from workload import FIXED, steps

TEXTS = [[random.randint(0, 50) for _ in range(120)] for _ in range(64)]


def edit_distance(text, other):
    row = list(range(len(other) + 1))
    for i, word in enumerate(text, 1):  # FAULT
        last, row[0] = row[0], i  # FAULT
        for j, expected in enumerate(other, 1):  # FAULT
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (word != expected))  # FAULT
    return row[-1]


def measure_errors(stop):
    while not stop.is_set():
        sum(edit_distance(text, other) for text, other in zip(TEXTS, TEXTS[1:]))  # FAULT


def start_metrics():
    module = multiprocessing if FIXED else threading
    stop = module.Event()
    metrics = (module.Process if FIXED else module.Thread)(target=measure_errors, args=(stop,), daemon=True)
    metrics.start()
    return metrics, stop


def train_step(model, optimizer, batch, labels):
    loss = nn.functional.cross_entropy(model(batch), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    metrics, stop = start_metrics()
    model = mlp(2048, 16)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    batches = torch.randn(4, 16384, 2048, device="cuda")
    labels = torch.randint(10, (16384,), device="cuda")
    for step in steps(torch.cuda.synchronize):
        train_step(model, optimizer, batches[step % len(batches)], labels)
    stop.set()
    metrics.join()


if __name__ == "__main__":
    main()
