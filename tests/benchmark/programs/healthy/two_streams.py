"""The next batch is copied from pinned memory on a second stream while the GPU trains with this one."""
import torch
from torch import nn

from models import mlp
from workload import steps

BATCH, FEATURES = 4096, 4096


class Prefetcher:
    def __init__(self, batches):
        self.batches = batches
        self.stream = torch.cuda.Stream()
        self.slots = [torch.empty(BATCH, FEATURES, device="cuda") for _ in range(2)]
        self.copied = [torch.cuda.Event() for _ in range(2)]
        self.used = [torch.cuda.Event() for _ in range(2)]
        self.copy(0)

    def copy(self, number):
        slot = number % 2
        with torch.cuda.stream(self.stream):
            self.stream.wait_event(self.used[slot])
            self.slots[slot].copy_(self.batches[number % len(self.batches)], non_blocking=True)
            self.copied[slot].record()

    def batch(self, number):
        torch.cuda.current_stream().wait_event(self.copied[number % 2])
        self.copy(number + 1)
        return self.slots[number % 2]

    def release(self, number):
        self.used[number % 2].record()


def train_step(model, optimizer, batch, labels):
    loss = nn.functional.cross_entropy(model(batch), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = mlp(FEATURES, 4)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, fused=True)
    batches = [torch.randn(BATCH, FEATURES).pin_memory() for _ in range(4)]
    labels = torch.randint(10, (BATCH,), device="cuda")
    prefetcher = Prefetcher(batches)
    for step in steps(torch.cuda.synchronize):
        train_step(model, optimizer, prefetcher.batch(step), labels)
        prefetcher.release(step)


if __name__ == "__main__":
    main()
