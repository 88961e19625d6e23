"""Messages on a graph are added to their targets with deterministic algorithms switched on, which sorts the indices."""
import os

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # deterministic algorithms ask for it

import torch
from torch import nn

from workload import FIXED, steps

NODES, EDGES, WIDTH = 40_000, 1_000_000, 64


def gather_messages(state, sources, targets):
    messages = state[sources]
    return torch.zeros_like(state).index_add_(0, targets, messages)  # FAULT


def main():
    if not FIXED:
        torch.use_deterministic_algorithms(True)  # FAULT
    sources = torch.randint(0, NODES, (EDGES,), device="cuda")
    targets = (torch.rand(EDGES, device="cuda") ** 3 * NODES).long()
    mix = nn.Linear(WIDTH, WIDTH, device="cuda")
    state = torch.randn(NODES, WIDTH, device="cuda")
    with torch.inference_mode():
        for _ in steps(torch.cuda.synchronize):
            state = torch.tanh(mix(gather_messages(state, sources, targets)))


if __name__ == "__main__":
    main()
