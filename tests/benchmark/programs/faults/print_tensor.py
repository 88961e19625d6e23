"""Every step prints the tensor of scores, left over from debugging."""
import torch
from torch import nn

from models import mlp
from workload import FIXED, steps


def report(step, scores):
    print(f"step {step} scores {scores}")  # FAULT


def train_step(model, optimizer, batch, labels):
    scores = model(batch)
    loss = nn.functional.cross_entropy(scores, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return scores


def main():
    model = mlp(4096, 2)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, fused=True)
    batches = torch.randn(8, 4096, 4096, device="cuda")
    labels = torch.randint(10, (4096,), device="cuda")
    for step in steps(torch.cuda.synchronize):
        scores = train_step(model, optimizer, batches[step % len(batches)], labels)
        if not FIXED or step % 100 == 99:
            report(step, scores.detach())


if __name__ == "__main__":
    main()
