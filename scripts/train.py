#!/usr/bin/env python3
"""A training step of two transformer blocks in bf16, again and again: the program that docs/profile.md looks at.

usage: train.py [eager | compiled | graph] [steps]
"""
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        qkv = self.qkv(x).view(batch, tokens, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(batch, tokens, width))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln1 = nn.LayerNorm(width)
        self.attn = Attention(width, heads)
        self.ln2 = nn.LayerNorm(width)
        self.fc1 = nn.Linear(width, 4 * width)
        self.fc2 = nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.fc2(F.gelu(self.fc1(self.ln2(x))))


class Model(nn.Module):
    def __init__(self, width=1024, heads=16, blocks=2, classes=1000):
        super().__init__()
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(blocks))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def make_step(mode):
    torch.manual_seed(0)
    model = Model().cuda().to(torch.bfloat16)
    forward = torch.compile(model) if mode == "compiled" else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, capturable=mode == "graph")
    x = torch.randn(8, 1024, 1024, device="cuda", dtype=torch.bfloat16)
    y = torch.randint(0, 1000, (8 * 1024,), device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=mode != "graph")
        loss = F.cross_entropy(forward(x).view(-1, 1000).float(), y)
        loss.backward()
        optimizer.step()

    side = torch.cuda.Stream()  # as captures want it
    with torch.cuda.stream(side):
        for _ in range(5):
            step()
    torch.cuda.synchronize()
    if mode == "graph":
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        graph.step = step  # keeps the tensors that it reads
        return graph.replay
    return step


def main(mode, steps):
    step = make_step(mode)
    times = []
    for first in range(0, steps, 50):
        count = min(50, steps - first)
        begin = time.perf_counter()
        for _ in range(count):
            step()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) / count * 1e3)
    times.sort()
    print(f"{mode}: {times[len(times) // 2]:.2f} ms a step (median of {len(times)} blocks), fastest {times[0]:.2f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "eager", int(sys.argv[2]) if len(sys.argv) > 2 else 1000)
