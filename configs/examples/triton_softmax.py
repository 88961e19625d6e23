# The Triton kernel of triton_softmax.yaml: run once on a GPU, Triton leaves softmax.cubin and softmax.json in its cache.
#   TRITON_CACHE_DIR=cache python triton_softmax.py && ls cache/*/softmax.cubin
import torch
import triton
import triton.language as tl


@triton.jit
def softmax(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + at, mask=at < cols, other=-float("inf"))
    v = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * cols + at, v / tl.sum(v, 0), mask=at < cols)


x = torch.randn(64, 8192, device="cuda")
y = torch.empty_like(x)
softmax[(64,)](x, y, 8192, BLOCK=8192, num_warps=8)
torch.testing.assert_close(y, torch.softmax(x, 1))
