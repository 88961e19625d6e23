"""Pairs of Triton kernels, as in planted.cu. Lines that an answer may name end with "# FAULT".

python3 planted_triton.py NAME faulty|mended [SECONDS]
python3 planted_triton.py --list
"""
import os
import sys
import time

import torch
import triton
import triton.language as tl


# ------------------------------------------------------------------ 1. colmean
@triton.jit
def colmean_faulty(x_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    col = tl.program_id(0)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, rows, BLOCK):
        r = start + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + r * cols + col)  # FAULT
    tl.store(out_ptr + col, tl.sum(acc, axis=0) / rows)


@triton.jit
def colmean_mended(x_ptr, out_ptr, rows, cols, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    c = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    acc = tl.zeros((BLOCK_R, BLOCK_C), dtype=tl.float32)
    for start in range(0, rows, BLOCK_R):
        r = start + tl.arange(0, BLOCK_R)
        acc += tl.load(x_ptr + r[:, None] * cols + c[None, :])
    tl.store(out_ptr + c, tl.sum(acc, axis=0) / rows)


def colmean(bad):
    rows, cols = 8192, 8192
    x = torch.rand(rows, cols, device="cuda")
    out = torch.empty(cols, device="cuda")
    if bad:
        return out, lambda: colmean_faulty[(cols,)](x, out, rows, cols, BLOCK=1024)
    return out, lambda: colmean_mended[(cols // 32,)](x, out, rows, cols, BLOCK_R=128, BLOCK_C=32, num_warps=8)


# ------------------------------------------------------------------ 2. turn
@triton.jit
def turn_faulty(x_ptr, y_ptr, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x_ptr + row * cols + c)
    tl.store(y_ptr + c * rows + row, v * 2.0)  # FAULT


@triton.jit
def turn_mended(x_ptr, y_ptr, rows, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x_ptr + r[:, None] * cols + c[None, :])
    tl.store(y_ptr + c[:, None] * rows + r[None, :], tl.trans(v * 2.0))


def turn(bad):
    rows, cols = 8192, 4096
    x = torch.rand(rows, cols, device="cuda")
    y = torch.empty(cols, rows, device="cuda")
    if bad:
        return y, lambda: turn_faulty[(rows, cols // 1024)](x, y, rows, cols, BLOCK=1024)
    return y, lambda: turn_mended[(rows // 64, cols // 64)](x, y, rows, cols, BLOCK=64)


# ------------------------------------------------------------------ 3. sqnorm
@triton.jit
def sqnorm_faulty(x_ptr, out_ptr, BLOCK_R: tl.constexpr, WIDTH: tl.constexpr):
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.arange(0, WIDTH)
    x = tl.load(x_ptr + r[:, None] * WIDTH + c[None, :])
    row_sum = tl.sum(x * x, axis=1)
    tl.atomic_add(out_ptr + r * 0, row_sum)  # FAULT


@triton.jit
def sqnorm_mended(x_ptr, out_ptr, BLOCK_R: tl.constexpr, WIDTH: tl.constexpr):
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.arange(0, WIDTH)
    x = tl.load(x_ptr + r[:, None] * WIDTH + c[None, :])
    total = tl.sum(tl.sum(x * x, axis=1), axis=0)
    tl.atomic_add(out_ptr, total)


def sqnorm(bad):
    rows, width = 1 << 21, 16
    x = torch.rand(rows, width, device="cuda")
    out = torch.zeros(1, device="cuda")
    kernel = sqnorm_faulty if bad else sqnorm_mended
    return out, lambda: kernel[(rows // 512,)](x, out, BLOCK_R=512, WIDTH=width)


# ------------------------------------------------------------------ 4. leaky
@triton.jit
def leaky_faulty(x_ptr, out_ptr, n, steps, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), dtype=tl.float64)  # FAULT
    for t in range(0, steps):
        x = tl.load(x_ptr + t * n + i).to(tl.float32)
        acc = acc * 0.9 + tl.exp(x - acc * 0.05)  # FAULT
    tl.store(out_ptr + i, acc.to(tl.float32))


@triton.jit
def leaky_mended(x_ptr, out_ptr, n, steps, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for t in range(0, steps):
        x = tl.load(x_ptr + t * n + i).to(tl.float32)
        acc = acc * 0.9 + tl.exp(x - acc * 0.05)
    tl.store(out_ptr + i, acc.to(tl.float32))


def leaky(bad):
    n, steps = 1 << 20, 64
    x = torch.rand(steps, n, device="cuda").half()
    out = torch.empty(n, device="cuda")
    kernel = leaky_faulty if bad else leaky_mended
    return out, lambda: kernel[(n // 256,)](x, out, n, steps, BLOCK=256)


# ------------------------------------------------------------------ 5. axpb
@triton.jit
def axpb_faulty(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # FAULT
    x = tl.load(x_ptr + i)  # FAULT
    tl.store(y_ptr + i, x * 1.5 + 0.5)  # FAULT


@triton.jit
def axpb_mended(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(y_ptr + i, x * 1.5 + 0.5)


def axpb(bad):
    n = 1 << 25
    x = torch.rand(n, device="cuda")
    y = torch.empty(n, device="cuda")
    if bad:
        return y, lambda: axpb_faulty[(n // 32,)](x, y, BLOCK=32)  # tiny programs  # FAULT
    return y, lambda: axpb_mended[(n // 1024,)](x, y, BLOCK=1024)


# ------------------------------------------------------------------ 6. softclip
@triton.jit
def softclip_faulty(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    step = tl.num_programs(0) * BLOCK
    for start in range(tl.program_id(0) * BLOCK, n, step):  # FAULT
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i)  # FAULT
        tl.store(y_ptr + i, x / (1.0 + tl.abs(x)))  # FAULT


@triton.jit
def softclip_mended(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    step = tl.num_programs(0) * BLOCK
    for start in range(tl.program_id(0) * BLOCK, n, step):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i)
        tl.store(y_ptr + i, x / (1.0 + tl.abs(x)))


def softclip(bad):
    n = 1 << 25
    x = torch.rand(n, device="cuda")
    y = torch.empty(n, device="cuda")
    if bad:
        return y, lambda: softclip_faulty[(24,)](x, y, n, BLOCK=1024)  # few programs  # FAULT
    return y, lambda: softclip_mended[(2048,)](x, y, n, BLOCK=1024)


# ------------------------------------------------------------------ 7. falloff
@triton.jit
def falloff_faulty(x_ptr, y_ptr, gain_ptr, fr_ptr, fc_ptr, ch, h, w, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    col, row, c = i % w, (i // w) % h, (i // (w * h)) % ch  # FAULT
    f = tl.load(gain_ptr + c) * tl.load(fr_ptr + row) * tl.load(fc_ptr + col)
    x = tl.load(x_ptr + i).to(tl.float32)
    tl.store(y_ptr + i, (x * f).to(tl.float16))


@triton.jit
def falloff_mended(x_ptr, y_ptr, gain_ptr, fr_ptr, fc_ptr, ch, h, w, BLOCK: tl.constexpr):
    line = tl.program_id(0)
    f = tl.load(gain_ptr + (line // h) % ch) * tl.load(fr_ptr + line % h)
    for start in range(0, w, BLOCK):
        col = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + line * w + col).to(tl.float32)
        tl.store(y_ptr + line * w + col, (x * f * tl.load(fc_ptr + col)).to(tl.float16))


def falloff(bad):
    n, ch, h, w = 8, 16, 512, 1024
    x = torch.rand(n * ch * h * w, device="cuda").half()
    y = torch.empty_like(x)
    gain = torch.rand(ch, device="cuda")
    fr = torch.rand(h, device="cuda")
    fc = torch.rand(w, device="cuda")
    if bad:
        return y, lambda: falloff_faulty[(x.numel() // 1024,)](x, y, gain, fr, fc, ch, h, w, BLOCK=1024)
    return y, lambda: falloff_mended[(n * ch * h,)](x, y, gain, fr, fc, ch, h, w, BLOCK=1024)


# ------------------------------------------------------------------ 8. lookup
@triton.jit
def lookup_faulty(table_ptr, idx_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    k = tl.load(idx_ptr + i)
    v = tl.load(table_ptr + k)  # FAULT
    tl.store(out_ptr + i, v + 1.0)


@triton.jit
def lookup_mended(table_ptr, idx_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    k = tl.load(idx_ptr + i)
    v = tl.load(table_ptr + k)
    tl.store(out_ptr + i, v + 1.0)


def lookup(bad):
    size, n = 1 << 27, 1 << 24
    table = torch.rand(size, device="cuda")
    idx = torch.randint(0, size, (n,), device="cuda", dtype=torch.int32)
    if not bad:
        idx = torch.sort(idx).values  # neighbours read neighbours
    out = torch.empty(n, device="cuda")
    kernel = lookup_faulty if bad else lookup_mended
    return out, lambda: kernel[(n // 1024,)](table, idx, out, BLOCK=1024)


# ------------------------------------------------------------------ 9. survive
@triton.jit
def survive_faulty(q_ptr, out_ptr, n, steps, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    p = tl.full((BLOCK,), 1.0, dtype=tl.float32)
    for t in range(0, steps):
        q = tl.load(q_ptr + t * n + i).to(tl.float32)
        p = tl.exp(tl.log(p) + tl.log(q))  # FAULT
    tl.store(out_ptr + i, p)


@triton.jit
def survive_mended(q_ptr, out_ptr, n, steps, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    p = tl.full((BLOCK,), 1.0, dtype=tl.float32)
    for t in range(0, steps):
        q = tl.load(q_ptr + t * n + i).to(tl.float32)
        p = p * q
    tl.store(out_ptr + i, p)


def survive(bad):
    n, steps = 1 << 20, 64
    q = (torch.rand(steps, n, device="cuda") * 0.1 + 0.9).half()
    out = torch.empty(n, device="cuda")
    kernel = survive_faulty if bad else survive_mended
    return out, lambda: kernel[(n // 256,)](q, out, n, steps, BLOCK=256)


# ------------------------------------------------------------------ 10. project
@triton.jit
def project_faulty(a_ptr, b_ptr, c_ptr, m, n, k,
                   BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, k, BK):
        rk = start + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * k + rk[None, :])  # FAULT
        b = tl.load(b_ptr + rk[:, None] * n + rn[None, :])  # FAULT
        acc += tl.dot(a, b, input_precision="ieee")  # FAULT
    tl.store(c_ptr + rm[:, None] * n + rn[None, :], acc.to(tl.float16))


@triton.jit
def project_mended(a_ptr, b_ptr, c_ptr, m, n, k,
                   BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, k, BK):
        rk = start + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * k + rk[None, :])
        b = tl.load(b_ptr + rk[:, None] * n + rn[None, :])
        acc += tl.dot(a, b)
    tl.store(c_ptr + rm[:, None] * n + rn[None, :], acc.to(tl.float16))


def project(bad):
    m = n = k = 2048
    kind = torch.float32 if bad else torch.float16
    a = torch.rand(m, k, device="cuda").to(kind)
    b = torch.rand(k, n, device="cuda").to(kind)
    c = torch.empty(m, n, device="cuda", dtype=torch.float16)
    if bad:
        return c, lambda: project_faulty[(m // 64, n // 64)](a, b, c, m, n, k, BM=64, BN=64, BK=32, num_warps=4)
    return c, lambda: project_mended[(m // 128, n // 128)](a, b, c, m, n, k, BM=128, BN=128, BK=64, num_warps=8)


KERNELS = {f.__name__: f for f in (colmean, turn, sqnorm, leaky, axpb, softclip, falloff, lookup, survive, project)}


def main(kernels):
    """Runs one of the kernels, by its name; planted_third_triton.py has others."""
    if sys.argv[1:] == ["--list"]:
        print("\n".join(kernels))
        return 0
    if len(sys.argv) < 3 or sys.argv[1] not in kernels or sys.argv[2] not in ("faulty", "mended"):
        print(f"usage: {os.path.basename(sys.argv[0])} NAME faulty|mended [SECONDS] | --list", file=sys.stderr)
        return 2
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else float(os.environ.get("SECONDS_OF_WORK", "6"))
    torch.manual_seed(0)
    out, launch = kernels[sys.argv[1]](sys.argv[2] == "faulty")
    launch()
    torch.cuda.synchronize()
    checksum = out.flatten()[: 1 << 20].double().sum().item()
    launches = 0
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds:
        for _ in range(20):
            launch()
        launches += 20
        torch.cuda.synchronize()
    each = (time.perf_counter() - begin) / launches * 1e6
    print(f"{sys.argv[1]} {sys.argv[2]}: {launches} launches, {each:.1f} us each, checksum {checksum:.6g}")
    return 0


if __name__ == "__main__":
    sys.exit(main(KERNELS))
