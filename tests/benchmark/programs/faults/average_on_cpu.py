"""The moving average of the weights is kept on the host: every step copies all weights there and adds them."""
import torch
from torch import nn

from models import mlp
from workload import FIXED, steps

DECAY = 0.999


class Average:
    def __init__(self, model):
        self.weights = [weight.detach().to("cuda" if FIXED else "cpu", copy=True) for weight in model.parameters()]

    @torch.no_grad()
    def update(self, model):
        for average, weight in zip(self.weights, model.parameters()):
            average.mul_(DECAY).add_(weight.cpu(), alpha=1 - DECAY)  # FAULT

    @torch.no_grad()
    def update_on_gpu(self, model):
        torch._foreach_lerp_(self.weights, list(model.parameters()), 1 - DECAY)


def train_step(model, optimizer, batch, labels):
    loss = nn.functional.cross_entropy(model(batch), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = mlp(2048, 16)
    average = Average(model)
    update = average.update_on_gpu if FIXED else average.update
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    batches = torch.randn(4, 16384, 2048, device="cuda")
    labels = torch.randint(10, (16384,), device="cuda")
    for step in steps(torch.cuda.synchronize):
        train_step(model, optimizer, batches[step % len(batches)], labels)
        update(model)


if __name__ == "__main__":
    main()
