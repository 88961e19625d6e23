"""A second thread summarises the history of metrics in pure Python, and holds the interpreter lock meanwhile."""
import multiprocessing
import random
import threading

import torch
from torch import nn

from models import mlp
from workload import FIXED, steps

HISTORY = [{"loss": random.random(), "accuracy": random.random(), "rate": random.random()} for _ in range(30000)]


def summarise(history):
    totals = {}
    for record in history:  # FAULT
        for name, value in record.items():  # FAULT
            low, high, total = totals.get(name, (value, value, 0.0))  # FAULT
            totals[name] = (min(low, value), max(high, value), total + value)  # FAULT
    return totals


def report_metrics(stop):
    while not stop.is_set():
        summarise(HISTORY)  # FAULT


def start_reporter():
    if FIXED:
        stop = multiprocessing.Event()
        reporter = multiprocessing.Process(target=report_metrics, args=(stop,), daemon=True)
    else:
        stop = threading.Event()
        reporter = threading.Thread(target=report_metrics, args=(stop,), daemon=True)
    reporter.start()
    return reporter, stop


def train_step(model, optimizer, batch, labels):
    loss = nn.functional.cross_entropy(model(batch), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    reporter, stop = start_reporter()
    model = mlp(4096, 8)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, fused=True)
    batches = torch.randn(4, 16384, 4096, device="cuda")
    labels = torch.randint(10, (16384,), device="cuda")
    for step in steps(torch.cuda.synchronize):
        train_step(model, optimizer, batches[step % len(batches)], labels)
    stop.set()
    reporter.join()


if __name__ == "__main__":
    main()
