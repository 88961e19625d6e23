"""Eight candidates of each request are wanted: all 200,000 scores are sorted for them."""
import torch
from torch import nn

from workload import FIXED, steps

REQUESTS, CANDIDATES, WIDTH, WANTED = 256, 200_000, 64, 8


def best(scores):
    if FIXED:
        return scores.topk(WANTED, dim=1).indices
    return torch.sort(scores, dim=1, descending=True).indices[:, :WANTED]  # FAULT


def main():
    items = torch.randn(CANDIDATES, WIDTH, dtype=torch.bfloat16, device="cuda")
    query = nn.Linear(WIDTH, WIDTH, dtype=torch.bfloat16, device="cuda")
    requests = torch.randn(REQUESTS, WIDTH, dtype=torch.bfloat16, device="cuda")
    seen = torch.zeros(CANDIDATES, device="cuda")
    ones = torch.ones(REQUESTS * WANTED, device="cuda")
    with torch.inference_mode():
        for _ in steps(torch.cuda.synchronize):
            chosen = best(query(requests) @ items.T)
            seen.index_add_(0, chosen.flatten(), ones)


if __name__ == "__main__":
    main()
