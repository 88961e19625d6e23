"""The norm and the largest value of every gradient are read back in every step, one value at a time."""
import torch

from models import transformer
from workload import steps


def gradient_statistics(model):
    statistics = {}
    for name, parameter in model.named_parameters():
        norm = parameter.grad.norm().item()  # FAULT
        largest = parameter.grad.abs().max().item()  # FAULT
        statistics[name] = (norm, largest)
    return statistics


def train_step(model, optimizer, batch):
    loss = model(batch).float().square().mean()
    optimizer.zero_grad()
    loss.backward()
    statistics = gradient_statistics(model)
    optimizer.step()
    return statistics


def main():
    model = transformer(768, 8)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    batch = torch.randn(8, 512, 768, dtype=torch.bfloat16, device="cuda")
    for _ in steps(torch.cuda.synchronize):
        train_step(model, optimizer, batch)


if __name__ == "__main__":
    main()
