"""A second thread summarises the history of metrics in pure Python, and holds the interpreter lock meanwhile."""
import random
import threading
import time

import torch
from torch import nn

from models import mlp
from workload import steps

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
        time.sleep(0.003)


def train_step(model, optimizer, batch, labels):
    loss = nn.functional.cross_entropy(model(batch), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = mlp(2048, 8)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, fused=True)
    batches = torch.randn(16, 2048, 2048, device="cuda")
    labels = torch.randint(10, (2048,), device="cuda")
    stop = threading.Event()
    reporter = threading.Thread(target=report_metrics, args=(stop,))
    reporter.start()
    for step in steps(torch.cuda.synchronize):
        train_step(model, optimizer, batches[step % len(batches)], labels)
    stop.set()
    reporter.join()


if __name__ == "__main__":
    main()
