"""AdamW updates each of 288 parameters by kernels of its own; the gradients come from a CUDA graph."""
import torch

from models import captured, transformer
from workload import FIXED, steps


def make_optimizer(model):
    return torch.optim.AdamW(model.parameters(), 1e-4, foreach=False, fused=FIXED)  # FAULT


def update(optimizer):
    optimizer.step()  # FAULT


def main():
    model = transformer(512, 24)
    optimizer = make_optimizer(model)
    batches = torch.randn(8, 16, 512, 512, dtype=torch.bfloat16, device="cuda")
    batch = batches[0].clone()

    def compute_gradients():
        model.zero_grad()
        model(batch).float().square().mean().backward()

    graph = captured(compute_gradients)
    for step in steps(torch.cuda.synchronize):
        batch.copy_(batches[step % len(batches)])
        graph.replay()
        update(optimizer)


if __name__ == "__main__":
    main()
