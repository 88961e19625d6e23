"""Gradient accumulation over 32 small batches: the loss of each is read back before the next one is launched."""
import torch
from torch import nn

from models import captured, mlp
from workload import FIXED, steps

MICRO_BATCHES, ROWS, FEATURES = 32, 1024, 512


def accumulate(graph, batch, micro_batches, total):
    losses = []
    for micro_batch in micro_batches:
        batch.copy_(micro_batch)
        graph.replay()
        if not FIXED:
            losses.append(total.item())  # FAULT
    return losses or total.tolist()


def main():
    model = mlp(FEATURES, 3)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, fused=True)
    micro_batches = torch.randn(MICRO_BATCHES, ROWS, FEATURES, device="cuda")
    labels = torch.randint(10, (ROWS,), device="cuda")
    batch = micro_batches[0].clone()
    total = torch.zeros((), device="cuda")

    def add_gradients():
        loss = nn.functional.cross_entropy(model(batch), labels) / MICRO_BATCHES
        loss.backward()
        total.add_(loss.detach())

    graph = captured(add_gradients)
    for _ in steps(torch.cuda.synchronize):
        accumulate(graph, batch, micro_batches, total)
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        total.zero_()


if __name__ == "__main__":
    main()
