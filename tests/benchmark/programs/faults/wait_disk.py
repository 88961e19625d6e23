"""Batches of 32 MiB are read from a file when they are needed; O_DIRECT, since the data set exceeds the page cache."""
import mmap
import os
import tempfile

import torch

from models import mlp
from workload import steps

FEATURES = 4096
BATCH_BYTES = 32 << 20
BATCHES = 8


def write_samples(folder):
    path = os.path.join(folder, "samples.bin")
    with open(path, "wb") as file:
        for _ in range(BATCHES):
            file.write(torch.randn(BATCH_BYTES // 4).numpy().tobytes())
        os.fsync(file.fileno())
    return path


def page_locked_buffer():
    memory = mmap.mmap(-1, BATCH_BYTES)
    buffer = torch.frombuffer(memory, dtype=torch.float32).view(-1, FEATURES)
    if int(torch.cuda.cudart().cudaHostRegister(buffer.data_ptr(), BATCH_BYTES, 0)) != 0:
        raise RuntimeError("cudaHostRegister failed")
    return memory, buffer


def read_batch(file, memory, number):
    os.preadv(file, [memory], number % BATCHES * BATCH_BYTES)  # FAULT


def train_step(model, optimizer, batch):
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = mlp(FEATURES, 2)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, fused=True)
    memory, buffer = page_locked_buffer()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        file = os.open(write_samples(folder), os.O_RDONLY | os.O_DIRECT)
        for step in steps(torch.cuda.synchronize):
            read_batch(file, memory, step)
            train_step(model, optimizer, buffer.to("cuda"))
        os.close(file)


if __name__ == "__main__":
    main()
