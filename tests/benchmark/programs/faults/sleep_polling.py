"""The training polls for its next batch every 10 ms, although a thread has it ready after 1 ms."""
import collections
import threading
import time

import torch

from models import mlp
from workload import FIXED, steps

ROWS, FEATURES = 4096, 256


class Producer:
    def __init__(self):
        self.samples = torch.randn(16, ROWS, FEATURES).pin_memory()
        self.staging = torch.empty(ROWS, FEATURES).pin_memory()
        self.ready = collections.deque()
        self.wanted, self.available = threading.Event(), threading.Event()
        self.stopped = False
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        number = 0
        while True:
            self.wanted.wait()
            self.wanted.clear()
            if self.stopped:
                return
            self.staging.copy_(self.samples[number % len(self.samples)])
            self.ready.append(self.staging)
            self.available.set()
            number += 1

    def next_batch(self):
        self.wanted.set()
        if FIXED:
            self.available.wait()
            self.available.clear()
        while not self.ready:
            time.sleep(0.01)  # FAULT
        return self.ready.popleft()

    def stop(self):
        self.stopped = True
        self.wanted.set()


def train_step(model, optimizer, batch):
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = mlp(4096, 2, inputs=FEATURES)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, fused=True)
    producer = Producer()
    for _ in steps(torch.cuda.synchronize):
        train_step(model, optimizer, producer.next_batch().to("cuda"))
    producer.stop()


if __name__ == "__main__":
    main()
