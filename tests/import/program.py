#!/usr/bin/env python3
"""The program whose profiles lie in recorded/: one step of a transformer block and a row of single operations.

usage: program.py [--pause SECONDS] plain [STEPS] | trace FILE | proton NAME
plain: for profilers from outside (ncu --profile-from-start off sees one step, STEPS more follow). trace: a torch.profiler trace.
proton: Triton Proton's two files. With --pause the GPU rests after each step, so that power does not lower its clock.
"""
import argparse
import contextlib
import time

import torch
import triton
import triton.language as tl
from torch import nn
from torch.nn import functional as F

WIDTH, TOKENS, BATCH, WORDS = 1024, 1024, 32, 4096


def amounts(grid, metadata, args):
    n = args["n"]
    return {"name": f"axpy_{n}", "flops32": 2 * n, "bytes": 12 * n}


@triton.jit(launch_metadata=amounts)
def axpy(x, y, out, n, a, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, a * tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.proj = nn.Linear(WIDTH, WIDTH)
        self.fc1 = nn.Linear(WIDTH, 4 * WIDTH)
        self.fc2 = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = self.qkv(self.ln(x)).view(BATCH, TOKENS, 3, 16, 64).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(x.shape))
        return x + self.fc2(F.gelu(self.fc1(x)))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.block = Block()
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens):
        return self.head(self.block(self.words(tokens)))


@contextlib.contextmanager
def named(name):
    torch.cuda.nvtx.range_push(name)
    with torch.profiler.record_function(name):
        yield
    torch.cuda.nvtx.range_pop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pause", type=float, default=0)
    parser.add_argument("mode", choices=["plain", "trace", "proton"])
    parser.add_argument("argument", nargs="?")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    gpu = dict(device="cuda")
    model = Model().cuda().to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(0, WORDS, (BATCH, TOKENS), **gpu)
    half = dict(device="cuda", dtype=torch.float16)
    a, b = torch.randn(64, 1024, 512, **half), torch.randn(64, 512, 1024, **half)
    image, weight = torch.randn(64, 64, 112, 112, **half), torch.randn(128, 64, 3, 3, **half)
    image = image.to(memory_format=torch.channels_last)
    weight = weight.to(memory_format=torch.channels_last)
    single = torch.randn(2048, 2048, **gpu)
    double = torch.randn(1024, 1024, dtype=torch.float64, **gpu)
    rows = torch.randn(16384, 8192, **half)
    e4m3 = torch.randn(4096, 4096, **gpu).to(torch.float8_e4m3fn)
    one = torch.ones((), **gpu)
    long = torch.randn(1 << 26, **gpu)
    out = torch.empty_like(long)
    query = torch.randn(8, 16, 2048, 128, device="cuda", dtype=torch.bfloat16)

    def step():
        with named("step"):
            optimizer.zero_grad(set_to_none=True)
            with named("forward"):
                loss = F.cross_entropy(model(tokens).view(-1, WORDS), tokens.view(-1))
            with named("backward"):
                loss.backward()
            with named("optimizer"):
                optimizer.step()
        with named("ops"), torch.no_grad():
            torch.bmm(a, b)
            F.conv2d(image, weight, padding=1)
            torch.mm(single, single)
            torch.mm(double, double)
            torch._scaled_mm(e4m3, e4m3.t(), one, one, out_dtype=torch.bfloat16)
            F.scaled_dot_product_attention(query, query, query)
            torch.softmax(rows, -1)
            F.rms_norm(rows, (8192,))
            F.relu(rows)
            rows.float()
            rows.sum()
            out.copy_(long)
            axpy[(triton.cdiv(long.numel(), 1024),)](long, long, out, long.numel(), 2.0, BLOCK=1024)
        if arguments.pause:
            torch.cuda.synchronize()
            time.sleep(arguments.pause)

    for _ in range(3):
        step()
    torch.cuda.synchronize()
    if arguments.mode == "plain":
        torch.cuda.cudart().cudaProfilerStart()
        step()
        torch.cuda.synchronize()
        torch.cuda.cudart().cudaProfilerStop()
        for _ in range(int(arguments.argument or 0)):
            step()
        torch.cuda.synchronize()
    elif arguments.mode == "trace":
        from torch.profiler import ProfilerActivity, profile

        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True, with_stack=True,
                     with_modules=True, with_flops=True) as recorded:
            for _ in range(4):
                step()
            torch.cuda.synchronize()
        recorded.export_chrome_trace(arguments.argument)
    else:
        import triton.profiler as proton

        for data, name in (("tree", arguments.argument), ("trace", arguments.argument + "-trace")):
            session = proton.start(name, context="shadow", data=data, hook="triton")
            for _ in range(4):
                with proton.scope("step"):
                    step()
            torch.cuda.synchronize()
            proton.finalize(session)


main()
