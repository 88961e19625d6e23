#!/usr/bin/env python3
"""Operations whose FLOPs are known, once each, for `ncu --profile-from-start off`: recorded/roofline-set.csv.gz is of it."""
import torch
from torch.nn import functional as F

torch.manual_seed(0)
half = dict(device="cuda", dtype=torch.float16)
brain = dict(device="cuda", dtype=torch.bfloat16)
square = torch.randn(4096, 4096, **brain)
single = torch.randn(2048, 2048, device="cuda")
double = torch.randn(1024, 1024, device="cuda", dtype=torch.float64)
rows = torch.randn(16384, 8192, **half)
image = torch.randn(64, 64, 112, 112, **half).to(memory_format=torch.channels_last)
weight = torch.randn(128, 64, 3, 3, **half).to(memory_format=torch.channels_last)
query = torch.randn(8, 16, 2048, 128, **brain)
e4m3 = torch.randn(4096, 4096, device="cuda").to(torch.float8_e4m3fn)
one = torch.ones((), device="cuda")


def operations():
    torch.mm(square, square)
    torch.mm(single, single)
    torch.mm(double, double)
    torch._scaled_mm(e4m3, e4m3.t(), one, one, out_dtype=torch.bfloat16)
    F.conv2d(image, weight, padding=1)
    F.scaled_dot_product_attention(query, query, query)
    torch.softmax(rows, -1)
    F.layer_norm(rows, (8192,))
    F.relu(rows)
    rows.float()
    rows.sum()
    bytes_ = torch.ones(2048, 2048, device="cuda", dtype=torch.int8)
    torch._int_mm(bytes_, torch.ones_like(bytes_))


for _ in range(2):
    operations()
torch.cuda.synchronize()
torch.cuda.cudart().cudaProfilerStart()
operations()
torch.cuda.synchronize()
torch.cuda.cudart().cudaProfilerStop()
