"""The best weights so far are kept by copy.deepcopy of the model, in every step."""
import copy

import torch

from models import mlp
from workload import FIXED, steps


def keep(model, kept):
    if FIXED:
        with torch.no_grad():
            torch._foreach_copy_(list(kept.parameters()), list(model.parameters()))
        return kept
    return copy.deepcopy(model)  # FAULT


def main():
    model = mlp(1024, 60)
    optimizer = torch.optim.SGD(model.parameters(), 1e-4, fused=True)
    batch = torch.randn(256, 1024, device="cuda")
    kept = copy.deepcopy(model)
    for _ in steps(torch.cuda.synchronize):
        model(batch).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        kept = keep(model, kept)


if __name__ == "__main__":
    main()
