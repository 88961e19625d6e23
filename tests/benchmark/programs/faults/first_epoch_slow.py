"""The first epoch decompresses every shard in the training loop; later epochs find them on the GPU."""
import random
import zlib

import torch

from models import mlp
from workload import FIXED, steps

SHARDS, CHUNKS, ROWS, FEATURES = 24, 8, 8192, 2048


class Shards:
    def __init__(self):
        values = torch.randint(0, 16, (2 * CHUNKS, ROWS // CHUNKS, FEATURES), dtype=torch.uint8)
        chunks = [zlib.compress(chunk.numpy().tobytes(), 1) for chunk in values]
        self.compressed = [random.sample(chunks, CHUNKS) for _ in range(SHARDS)]
        self.cache = {}

    def load(self, number):
        text = b"".join(zlib.decompress(chunk) for chunk in self.compressed[number])  # FAULT
        return torch.frombuffer(bytearray(text), dtype=torch.uint8).view(ROWS, FEATURES).cuda()  # FAULT

    def get(self, number):
        if number not in self.cache:
            self.cache[number] = self.load(number)  # FAULT
        return self.cache[number]


def train_step(model, optimizer, batch):
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    shards = Shards()
    if FIXED:
        for number in range(SHARDS):
            shards.get(number)
    model = mlp(FEATURES, 4)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, fused=True)
    for step in steps(torch.cuda.synchronize):
        batch = shards.get(step % SHARDS).float() / 16
        train_step(model, optimizer, batch)


if __name__ == "__main__":
    main()
