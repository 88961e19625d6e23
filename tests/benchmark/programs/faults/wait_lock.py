"""A second thread fingerprints a snapshot of 16 MiB and holds the lock that the training needs in every step."""
import contextlib
import hashlib
import os
import threading
import time

import torch

from models import mlp
from workload import FIXED, steps

LOCK = threading.Lock()


def fingerprint_snapshots(snapshot, stop):
    while not stop.is_set():
        with contextlib.nullcontext() if FIXED else LOCK:
            hashlib.sha512(snapshot).hexdigest()  # FAULT
        time.sleep(0.002)


def count_samples(counts, name, samples):
    with LOCK:  # FAULT
        counts[name] = counts.get(name, 0) + samples


def train_step(model, optimizer, batch):
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = mlp(4096, 3)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, fused=True)
    batches = torch.randn(8, 4096, 4096, device="cuda")
    stop = threading.Event()
    thread = threading.Thread(target=fingerprint_snapshots, args=(os.urandom(16 << 20), stop))
    thread.start()
    counts = {}
    for step in steps(torch.cuda.synchronize):
        train_step(model, optimizer, batches[step % len(batches)])
        count_samples(counts, "train", 4096)
    stop.set()
    thread.join()


if __name__ == "__main__":
    main()
