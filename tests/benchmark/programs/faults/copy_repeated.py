"""Retrieval: the table of candidates never changes, and is copied to the GPU for every batch of queries."""
import torch

from workload import FIXED, steps

CANDIDATES, WIDTH, QUERIES = 131072, 1024, 2048


def best_candidates(queries, candidates):
    on_gpu = candidates.to("cuda", non_blocking=True)  # FAULT
    return (queries @ on_gpu.T).argmax(dim=1)


def main():
    candidates = torch.randn(CANDIDATES, WIDTH, dtype=torch.bfloat16).pin_memory()
    if FIXED:
        candidates = candidates.to("cuda")
    queries = torch.randn(16, QUERIES, WIDTH, dtype=torch.bfloat16, device="cuda")
    with torch.inference_mode():
        for step in steps(torch.cuda.synchronize):
            best_candidates(queries[step % len(queries)], candidates)


if __name__ == "__main__":
    main()
