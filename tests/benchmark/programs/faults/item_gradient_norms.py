"""The norm and the largest value of every gradient are read back in every step, one value at a time."""
import torch

from models import captured, transformer
from workload import FIXED, steps


def read_statistics(names, norms, largest):
    if FIXED:
        values = torch.stack(norms + largest).tolist()
    else:
        values = [value.item() for value in norms + largest]  # FAULT
    return dict(zip(names, zip(values, values[len(names):])))


def main():
    model = transformer(768, 12)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    batch = torch.randn(8, 512, 768, dtype=torch.bfloat16, device="cuda")
    names = [name for name, _ in model.named_parameters()]
    norms, largest = [], []

    def compute_gradients():
        model.zero_grad()
        model(batch).float().square().mean().backward()
        gradients = [parameter.grad for parameter in model.parameters()]
        norms[:] = torch._foreach_norm(gradients)
        largest[:] = torch._foreach_norm(gradients, float("inf"))

    graph = captured(compute_gradients)
    for _ in steps(torch.cuda.synchronize):
        graph.replay()
        read_statistics(names, norms, largest)
        optimizer.step()


if __name__ == "__main__":
    main()
