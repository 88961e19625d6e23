"""Every sample is a file of its own, and 512 of them are opened for each batch, in the process that trains."""
import os
import random
import tempfile

import numpy as np
import torch
from torch import nn

from loading import load_ahead, load_now
from models import mlp
from workload import FIXED, steps

FILES, BATCH, FEATURES = 4096, 512, 1024


def write_samples(folder):
    samples = np.random.default_rng(0).standard_normal((FILES, FEATURES), dtype=np.float32)
    paths = [os.path.join(folder, f"{number}.bin") for number in range(FILES)]
    for path, sample in zip(paths, samples):
        sample.tofile(path)
    return paths


def read_batch(paths):
    rows = [np.fromfile(path, dtype=np.float32) for path in paths]  # FAULT
    return torch.from_numpy(np.stack(rows))


def train_step(model, optimizer, batch, labels):
    loss = nn.functional.cross_entropy(model(batch), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = mlp(8192, 3, inputs=FEATURES)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, fused=True)
    labels = torch.randint(10, (BATCH,), device="cuda")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        paths = write_samples(folder)
        batches = (load_ahead if FIXED else load_now)(read_batch, [random.sample(paths, BATCH) for _ in range(64)])
        for _ in steps(torch.cuda.synchronize):
            train_step(model, optimizer, next(batches).to("cuda"), labels)
        del batches


if __name__ == "__main__":
    main()
