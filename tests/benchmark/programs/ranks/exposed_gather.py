"""Weights are gathered from all ranks before each layer, and the layer waits: sharding without prefetch."""
import torch
import torch.distributed as dist

from job import start, steps
from workload import FIXED

WIDTH, DEPTH = 4096, 8


def gather(shard, whole):
    dist.all_gather_into_tensor(whole, shard)  # FAULT
    return whole


def main():
    start()
    ranks = dist.get_world_size()
    shards = [torch.randn(WIDTH // ranks, WIDTH, device="cuda", dtype=torch.bfloat16) for _ in range(DEPTH)]
    whole = [torch.empty(WIDTH, WIDTH, device="cuda", dtype=torch.bfloat16) for _ in range(DEPTH)]
    inputs = torch.randn(2048, WIDTH, device="cuda", dtype=torch.bfloat16)
    for weight, shard in zip(whole, shards):
        gather(shard, weight)
    for _ in steps():
        x = inputs
        for weight, shard in zip(whole, shards):
            x = x @ (weight if FIXED else gather(shard, weight))


if __name__ == "__main__":
    main()
