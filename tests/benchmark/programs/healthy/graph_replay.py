"""A training step that is captured once as a CUDA graph, and replayed."""
import torch

from models import transformer
from workload import steps


class CapturedStep:
    def __init__(self, model, optimizer, example):
        self.model, self.optimizer = model, optimizer
        self.batch = example.clone()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.train_step()
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        optimizer.zero_grad()
        with torch.cuda.graph(self.graph):
            self.train_step()

    def train_step(self):
        self.optimizer.zero_grad()
        loss = self.model(self.batch).float().square().mean()
        loss.backward()
        self.optimizer.step()

    def __call__(self, batch):
        self.batch.copy_(batch)
        self.graph.replay()


def main():
    model = transformer(1024, 4)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True, capturable=True)
    batches = torch.randn(8, 16, 512, 1024, dtype=torch.bfloat16, device="cuda")
    captured = CapturedStep(model, optimizer, batches[0])
    ends = [torch.cuda.Event() for _ in range(4)]
    for step in steps(torch.cuda.synchronize):
        ends[step % len(ends)].synchronize()  # at most four steps ahead of the GPU
        captured(batches[step % len(batches)])
        ends[step % len(ends)].record()


if __name__ == "__main__":
    main()
