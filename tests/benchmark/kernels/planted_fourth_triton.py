"""The Triton kernels of planted_fourth.cu: NAME faulty|mended SECONDS, or --list."""
import sys
import time

import torch
import triton
import triton.language as tl


# ---- column sums of a row-major matrix
@triton.jit
def col_sums(x, out, rows, cols, BR: tl.constexpr, BC: tl.constexpr):
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    acc = tl.zeros((BR, BC), tl.float32)
    for r0 in range(0, rows, BR):
        r = r0 + tl.arange(0, BR)
        acc += tl.load(x + r[:, None] * cols + c[None, :])  # FAULT: col_sums
    tl.store(out + c, tl.sum(acc, 0))


def make_col_sums(v):
    rows, cols = 8192, 32768
    x = torch.randn(rows, cols, device="cuda")
    o = torch.empty(cols, device="cuda")
    BR, BC = (1024, 1) if v else (32, 32)  # FAULT: col_sums
    return lambda: col_sums[(cols // BC,)](x, o, rows, cols, BR=BR, BC=BC, num_warps=4)


# ---- row softmax
@triton.jit
def softmax_rows(x, y, cols, B: tl.constexpr):
    i = tl.arange(0, B)
    base = tl.program_id(0).to(tl.int64) * cols
    a = tl.load(x + base + i)  # FAULT: softmax_rows
    a = tl.exp(a - tl.max(a, 0))  # FAULT: softmax_rows
    tl.store(y + base + i, a / tl.sum(a, 0))  # FAULT: softmax_rows


def make_softmax_rows(v):
    rows, cols = 8192, 16384
    x = torch.randn(rows, cols, device="cuda")
    y = torch.empty_like(x)
    warps = 1 if v else 16  # FAULT: softmax_rows
    return lambda: softmax_rows[(rows,)](x, y, cols, B=cols, num_warps=warps)


# ---- attention scores S = Q K^T, head dimension 128
@triton.jit
def qk_scores_a(q, k, s, n, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for d0 in range(0, D, 32):
        d = d0 + tl.arange(0, 32)
        a = tl.load(q + m[:, None] * D + d[None, :])
        b = tl.load(k + c[None, :] * D + d[:, None])
        acc = tl.dot(a.to(tl.float32), b.to(tl.float32), acc, input_precision="ieee")  # FAULT: qk_scores
    tl.store(s + m[:, None] * n + c[None, :], acc.to(tl.float16))


@triton.jit
def qk_scores_b(q, k, s, n, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for d0 in range(0, D, 32):
        d = d0 + tl.arange(0, 32)
        a = tl.load(q + m[:, None] * D + d[None, :])
        b = tl.load(k + c[None, :] * D + d[:, None])
        acc = tl.dot(a, b, acc)
    tl.store(s + m[:, None] * n + c[None, :], acc.to(tl.float16))


def make_qk_scores(v):
    n, D = 8192, 128
    q = torch.randn(n, D, device="cuda", dtype=torch.float16)
    k = torch.randn(n, D, device="cuda", dtype=torch.float16)
    s = torch.empty(n, n, device="cuda", dtype=torch.float16)
    f = qk_scores_a if v else qk_scores_b
    return lambda: f[(n // 64, n // 64)](q, k, s, n, D=D, BM=64, BN=64, num_warps=4)


# ---- inverse RMS of each (long) row, fp16 input
@triton.jit
def row_rms_a(x, out, cols, B: tl.constexpr):
    base = tl.program_id(0).to(tl.int64) * cols
    tot = 0.0
    for c0 in range(0, cols, B):
        a = tl.load(x + base + c0 + tl.arange(0, B)).to(tl.float32)
        tot += tl.sum(a * a, 0)  # FAULT: row_rms
    tl.store(out + tl.program_id(0), tl.rsqrt(tot / cols + 1e-6))


@triton.jit
def row_rms_b(x, out, cols, B: tl.constexpr):
    base = tl.program_id(0).to(tl.int64) * cols
    tot = tl.zeros((B,), tl.float32)
    for c0 in range(0, cols, B):
        a = tl.load(x + base + c0 + tl.arange(0, B)).to(tl.float32)
        tot += a * a
    tl.store(out + tl.program_id(0), tl.rsqrt(tl.sum(tot, 0) / cols + 1e-6))


def make_row_rms(v):
    rows, cols = 4096, 131072
    x = torch.randn(rows, cols, device="cuda", dtype=torch.float16)
    o = torch.empty(rows, device="cuda")
    f = row_rms_a if v else row_rms_b
    return lambda: f[(rows,)](x, o, cols, B=1024, num_warps=8)


# ---- embedding look-up, rows of 512 floats
@triton.jit
def embed_rows(table, ids, out, D: tl.constexpr, B: tl.constexpr):
    t = tl.program_id(0).to(tl.int64)
    d = tl.program_id(1) * B + tl.arange(0, B)
    row = tl.load(ids + t).to(tl.int64)
    tl.store(out + t * D + d, tl.load(table + row * D + d))  # FAULT: embed_rows


def make_embed_rows(v):
    vocab, D, n = 500000, 512, 262144
    table = torch.randn(vocab, D, device="cuda")
    ids = torch.randint(0, vocab, (n,), device="cuda", dtype=torch.int32)
    o = torch.empty(n, D, device="cuda")
    B = 32 if v else 512  # FAULT: embed_rows
    return lambda: embed_rows[(n, D // B)](table, ids, o, D=D, B=B, num_warps=4)


# ---- 16-tap FIR filter over a long signal
@triton.jit
def fir16_a(x, w, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    for k in tl.static_range(16):
        acc += tl.load(w + k) * tl.load(x + i + k, volatile=True)  # FAULT: fir16
    tl.store(y + i, acc)


@triton.jit
def fir16_b(x, w, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    for k in tl.static_range(16):
        acc += tl.load(w + k) * tl.load(x + i + k)
    tl.store(y + i, acc)


def make_fir16(v):
    n = 1 << 26
    x = torch.randn(n + 1024, device="cuda")
    w = torch.randn(16, device="cuda")
    y = torch.empty(n, device="cuda")
    f = fir16_a if v else fir16_b
    return lambda: f[(n // 1024,)](x, w, y, n, B=1024, num_warps=8)


KERNELS = {"col_sums": make_col_sums, "softmax_rows": make_softmax_rows, "qk_scores": make_qk_scores,
           "row_rms": make_row_rms, "embed_rows": make_embed_rows, "fir16": make_fir16}


def main():
    if len(sys.argv) > 1 and sys.argv[1] == "--list":
        print("\n".join(KERNELS))
        return
    name, kind, secs = sys.argv[1], sys.argv[2], float(sys.argv[3])
    go = KERNELS[name]({"faulty": True, "mended": False}[kind])
    go()
    torch.cuda.synchronize()
    t0, cnt, el = time.perf_counter(), 0, 0.0
    while cnt == 0 or el < secs:
        for _ in range(20):
            go()
        torch.cuda.synchronize()
        cnt += 20
        el = time.perf_counter() - t0
    print(f"{name} {kind} {el * 1e6 / cnt:.2f}")


if __name__ == "__main__":
    main()
