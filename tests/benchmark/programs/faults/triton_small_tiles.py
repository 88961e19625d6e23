"""Transformer encoder inference; the up-projection uses a Triton kernel with fused GELU."""
import os
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl

SECONDS = float(os.environ.get("SECONDS_OF_WORK", "6"))
FIXED = os.environ.get("FIXED") == "1"
WIDTH, HEADS, LAYERS, BATCH, LENGTH = 2048, 16, 6, 16, 1024


@triton.jit
def linear_gelu_kernel(x, w, bias, out, M, N, K,
                       BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    across = tl.cdiv(N, BN)
    group = 8 * across
    first = pid // group * 8
    height = min(tl.cdiv(M, BM) - first, 8)
    rm = (first + pid % group % height) * BM + tl.arange(0, BM)
    rn = (pid % group // height) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    xp = x + rm[:, None] * K + rk[None, :]
    wp = w + rn[None, :] * K + rk[:, None]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(xp), tl.load(wp), acc)  # FAULT
        xp += BK
        wp += BK
    acc += tl.load(bias + rn)[None, :].to(tl.float32)
    acc = acc * tl.sigmoid(1.702 * acc)
    tl.store(out + rm[:, None] * N + rn[None, :], acc.to(tl.bfloat16))


def linear_gelu(x, weight, bias):
    m, k, n = x.shape[0], x.shape[1], weight.shape[0]
    out = torch.empty(m, n, device=x.device, dtype=x.dtype)
    bm, bn, bk, warps, stages = (128, 256, 64, 8, 3) if FIXED else (32, 32, 32, 4, 2)  # FAULT
    grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)  # FAULT
    linear_gelu_kernel[grid](x, weight, bias, out, m, n, k, BM=bm, BN=bn, BK=bk,  # FAULT
                             num_warps=warps, num_stages=stages)  # FAULT
    return out


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.o = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v)
        x = x + self.o(a.transpose(1, 2).reshape(b, t, WIDTH))
        h = linear_gelu(self.norm2(x).view(b * t, WIDTH), self.up.weight, self.up.bias)  # FAULT
        return x + self.down(h).view(b, t, WIDTH)


@torch.inference_mode()
def encode(blocks, x):
    return F.normalize(blocks(x).mean(1), dim=-1)


def main():
    torch.manual_seed(0)
    blocks = nn.Sequential(*(Block() for _ in range(LAYERS))).to("cuda", torch.bfloat16).eval()
    data = torch.randn(4, BATCH, LENGTH, WIDTH, device="cuda", dtype=torch.bfloat16)
    for i in range(4):
        encode(blocks, data[i])
    torch.cuda.synchronize()
    begin, step = time.time(), 0
    while time.time() - begin < SECONDS:
        vectors = encode(blocks, data[step % 4])
        step += 1
        if step % 20 == 0:
            print(f"batch {step} similarity {(vectors @ vectors.T).mean().item():.4f}")
    torch.cuda.synchronize()
    print(f"steps {step} in {time.time() - begin:.3f} s", flush=True)


if __name__ == "__main__":
    main()
