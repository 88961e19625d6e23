"""Batches of 16 MiB are read from a file when they are needed; O_DIRECT, since the data set exceeds the page cache."""
import mmap
import os
import tempfile

import torch

from models import mlp
from workload import FIXED, steps

FEATURES = 1024
BATCH_BYTES = 16 << 20
BATCHES = 16


def write_samples(folder):
    path = os.path.join(folder, "samples.bin")
    with open(path, "wb") as file:
        for _ in range(BATCHES):
            file.write(torch.randn(BATCH_BYTES // 4).numpy().tobytes())
        os.fsync(file.fileno())
    return path


def page_locked_buffer(size):
    memory = mmap.mmap(-1, size)
    buffer = torch.frombuffer(memory, dtype=torch.float32).view(-1, FEATURES)
    if int(torch.cuda.cudart().cudaHostRegister(buffer.data_ptr(), size, 0)) != 0:
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
    model = mlp(4096, 2, inputs=FEATURES)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, fused=True)
    kept = BATCHES if FIXED else 1
    buffers = [page_locked_buffer(BATCH_BYTES) for _ in range(kept)]
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        file = os.open(write_samples(folder), os.O_RDONLY | os.O_DIRECT)
        for number in range(kept):
            read_batch(file, buffers[number][0], number)
        for step in steps(torch.cuda.synchronize):
            memory, buffer = buffers[step % kept]
            if not FIXED:
                read_batch(file, memory, step)
            train_step(model, optimizer, buffer.to("cuda"))
        os.close(file)


if __name__ == "__main__":
    main()
