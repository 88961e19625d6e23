"""Pairs of Triton kernels, as in planted_third.cu. Lines that an answer may name end with "# FAULT".

python3 planted_third_triton.py NAME faulty|mended [SECONDS]
python3 planted_third_triton.py --list
"""
import sys

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from planted_triton import main


# ------------------------------------------------------------------ 1. layernorm_rows: the row is read three times
@triton.jit
def layernorm_rows_faulty(x_ptr, w_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row = x_ptr + tl.program_id(0) * cols
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        total += tl.load(row + start + tl.arange(0, BLOCK))
    mean = tl.sum(total, axis=0) / cols
    spread = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        x = tl.load(row + start + tl.arange(0, BLOCK))  # FAULT
        spread += (x - mean) * (x - mean)
    scale = tl.rsqrt(tl.sum(spread, axis=0) / cols + 1e-5)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(row + c)  # FAULT
        tl.store(y_ptr + tl.program_id(0) * cols + c, (x - mean) * scale * tl.load(w_ptr + c))


@triton.jit
def layernorm_rows_mended(x_ptr, w_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * cols + c)
    mean = tl.sum(x, axis=0) / cols
    spread = tl.sum((x - mean) * (x - mean), axis=0) / cols
    scale = tl.rsqrt(spread + 1e-5)
    tl.store(y_ptr + tl.program_id(0) * cols + c, (x - mean) * scale * tl.load(w_ptr + c))


def layernorm_rows(bad):
    rows, cols = 4096, 16384
    x = torch.rand(rows, cols, device="cuda")
    w = torch.rand(cols, device="cuda")
    y = torch.empty_like(x)
    if bad:
        return y, lambda: layernorm_rows_faulty[(rows,)](x, w, y, cols, BLOCK=1024, num_warps=4)
    return y, lambda: layernorm_rows_mended[(rows,)](x, w, y, cols, BLOCK=cols, num_warps=16)


# ------------------------------------------------------------------ 2. gram: the product doesn't use the tensor cores
@triton.jit
def gram_faulty(a_ptr, b_ptr, c_ptr, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, k, BK):
        j = start + tl.arange(0, BK)
        a = tl.load(a_ptr + r[:, None] * k + j[None, :])
        b = tl.load(b_ptr + j[:, None] * n + c[None, :])
        acc = tl.dot(a, b, acc, input_precision="ieee")  # FAULT
    tl.store(c_ptr + r[:, None] * n + c[None, :], acc)


@triton.jit
def gram_mended(a_ptr, b_ptr, c_ptr, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, k, BK):
        j = start + tl.arange(0, BK)
        a = tl.load(a_ptr + r[:, None] * k + j[None, :])
        b = tl.load(b_ptr + j[:, None] * n + c[None, :])
        acc = tl.dot(a, b, acc, input_precision="tf32")
    tl.store(c_ptr + r[:, None] * n + c[None, :], acc)


def gram(bad):
    n, k = 2048, 2048
    a = torch.rand(n, k, device="cuda")
    b = torch.rand(k, n, device="cuda")
    out = torch.empty(n, n, device="cuda")
    kernel = gram_faulty if bad else gram_mended
    return out, lambda: kernel[(n // 64, n // 64)](a, b, out, n, k, BM=64, BN=64, BK=32, num_warps=4, num_stages=3)


# ------------------------------------------------------------------ 3. half_product: no overlap of loads and product
@triton.jit
def half_product_faulty(a_ptr, b_ptr, c_ptr, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in tl.range(0, k, BK, num_stages=1):  # FAULT
        j = start + tl.arange(0, BK)
        a = tl.load(a_ptr + r[:, None] * k + j[None, :])  # FAULT
        b = tl.load(b_ptr + j[:, None] * n + c[None, :])  # FAULT
        acc = tl.dot(a, b, acc)  # FAULT
    tl.store(c_ptr + r[:, None] * n + c[None, :], acc.to(tl.float16))


@triton.jit
def half_product_mended(a_ptr, b_ptr, c_ptr, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in tl.range(0, k, BK, num_stages=4):
        j = start + tl.arange(0, BK)
        a = tl.load(a_ptr + r[:, None] * k + j[None, :])
        b = tl.load(b_ptr + j[:, None] * n + c[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + r[:, None] * n + c[None, :], acc.to(tl.float16))


def half_product(bad):
    n, k = 4096, 4096
    a = torch.rand(n, k, device="cuda").half()
    b = torch.rand(k, n, device="cuda").half()
    out = torch.empty(n, n, device="cuda", dtype=torch.float16)
    kernel, stages = (half_product_faulty, 1) if bad else (half_product_mended, 4)
    return out, lambda: kernel[(n // 128, n // 128)](a, b, out, n, k, BM=128, BN=128, BK=64, num_warps=8,
                                                     num_stages=stages)


# ------------------------------------------------------------------ 4. rowpeak: fewer programs than SMs
@triton.jit
def rowpeak_faulty(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)  # FAULT
    peak = tl.full((BLOCK,), 0.0, dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        x = tl.load(x_ptr + row * cols + start + tl.arange(0, BLOCK))  # FAULT
        peak = tl.maximum(peak, x)
    tl.store(out_ptr + row, tl.max(peak, axis=0))


@triton.jit
def rowpeak_mended(x_ptr, out_ptr, cols, PART: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    first = tl.program_id(1) * PART
    peak = tl.full((BLOCK,), 0.0, dtype=tl.float32)
    for start in range(first, first + PART, BLOCK):
        x = tl.load(x_ptr + row * cols + start + tl.arange(0, BLOCK))
        peak = tl.maximum(peak, x)
    tl.atomic_max(out_ptr + row, tl.max(peak, axis=0))


def rowpeak(bad):
    rows, cols = 24, 1 << 21
    x = torch.rand(rows, cols, device="cuda")
    out = torch.zeros(rows, device="cuda")
    if bad:
        return out, lambda: rowpeak_faulty[(rows,)](x, out, cols, BLOCK=4096, num_warps=8)
    return out, lambda: rowpeak_mended[(rows, 128)](x, out, cols, PART=cols // 128, BLOCK=4096, num_warps=8)


# ------------------------------------------------------------------ 5. gamma_curve: the precise power function
@triton.jit
def gamma_curve_faulty(x_ptr, y_ptr, decode, encode, gain, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i).to(tl.float32)
    light = libdevice.pow(x, decode) * gain  # FAULT
    y = libdevice.pow(light, encode)  # FAULT
    tl.store(y_ptr + i, y.to(tl.float16))


@triton.jit
def gamma_curve_mended(x_ptr, y_ptr, decode, encode, gain, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i).to(tl.float32)
    light = tl.exp2(decode * tl.log2(x)) * gain
    y = tl.exp2(encode * tl.log2(light))
    tl.store(y_ptr + i, y.to(tl.float16))


def gamma_curve(bad):
    count = 1 << 25
    x = (torch.rand(count, device="cuda") + 0.01).half()
    y = torch.empty_like(x)
    kernel = gamma_curve_faulty if bad else gamma_curve_mended
    return y, lambda: kernel[(count // 1024,)](x, y, 2.2, 0.4545, 0.7, BLOCK=1024, num_warps=4)


# ------------------------------------------------------------------ 6. recurrence: one step's loads in flight
@triton.jit
def recurrence_faulty(a_ptr, b_ptr, out_ptr, steps, channels, BLOCK: tl.constexpr):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    h = tl.zeros((BLOCK,), dtype=tl.float32)
    for t in range(0, steps):
        a = tl.load(a_ptr + t * channels + c)  # FAULT
        b = tl.load(b_ptr + t * channels + c)  # FAULT
        h = a * h + b  # FAULT
        tl.store(out_ptr + t * channels + c, h)


@triton.jit
def join(a_first, b_first, a_second, b_second):
    return a_first * a_second, b_first * a_second + b_second


@triton.jit
def recurrence_mended(a_ptr, b_ptr, out_ptr, steps, channels, PART: tl.constexpr, BLOCK: tl.constexpr):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    t = tl.arange(0, PART)
    last = (t == PART - 1)[:, None]
    h = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, steps, PART):
        at = (start + t)[:, None] * channels + c[None, :]
        a = tl.load(a_ptr + at)
        b = tl.load(b_ptr + at)
        a, b = tl.associative_scan((a, b), 0, join)
        values = a * h[None, :] + b
        tl.store(out_ptr + at, values)
        h = tl.sum(tl.where(last, values, 0.0), axis=0)


def recurrence(bad):
    steps, channels = 512, 32768
    a = torch.rand(steps, channels, device="cuda")
    b = torch.rand(steps, channels, device="cuda")
    out = torch.empty_like(a)
    if bad:
        return out, lambda: recurrence_faulty[(channels // 32,)](a, b, out, steps, channels, BLOCK=32, num_warps=1)
    return out, lambda: recurrence_mended[(channels // 32,)](a, b, out, steps, channels, PART=32, BLOCK=32,
                                                             num_warps=4)


# ------------------------------------------------------------------ 7. wide_softmax: more values than registers
@triton.jit
def wide_softmax_faulty(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * cols + c)  # FAULT
    top = tl.max(x, axis=0)  # FAULT
    e = tl.exp(x - top)  # FAULT
    whole = tl.sum(e, axis=0)  # FAULT
    tl.store(y_ptr + tl.program_id(0) * cols + c, e / whole)  # FAULT


@triton.jit
def wide_softmax_mended(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * cols + c)
    top = tl.max(x, axis=0)
    e = tl.exp(x - top)
    whole = tl.sum(e, axis=0)
    tl.store(y_ptr + tl.program_id(0) * cols + c, e / whole)


def wide_softmax(bad):
    rows, cols = 4096, 16384
    x = torch.rand(rows, cols, device="cuda")
    y = torch.empty_like(x)
    if bad:
        return y, lambda: wide_softmax_faulty[(rows,)](x, y, cols, BLOCK=cols, num_warps=1)
    return y, lambda: wide_softmax_mended[(rows,)](x, y, cols, BLOCK=cols, num_warps=16)


# ------------------------------------------------------------------ 8. position_bias: 64-bit divisions for the index
@triton.jit
def position_bias_faulty(x_ptr, channel_ptr, row_ptr, column_ptr, y_ptr, channels, height, width, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    column = i % width  # FAULT
    row = i // width % height  # FAULT
    channel = i // (width * height) % channels  # FAULT
    bias = tl.load(channel_ptr + channel) + tl.load(row_ptr + row) + tl.load(column_ptr + column)
    tl.store(y_ptr + i, tl.load(x_ptr + i) + bias)


@triton.jit
def position_bias_mended(x_ptr, channel_ptr, row_ptr, column_ptr, y_ptr, channels, height, width, BLOCK: tl.constexpr):
    # A program has one row, so only its number is divided.
    line = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    row = line % height
    channel = line // height % channels
    bias = tl.load(channel_ptr + channel) + tl.load(row_ptr + row) + tl.load(column_ptr + column)
    i = line * BLOCK + column
    tl.store(y_ptr + i, tl.load(x_ptr + i) + bias)


def position_bias(bad):
    images, channels, height, width = 16, 48, 48, 1024
    x = torch.rand(images, channels, height, width, device="cuda").half()
    biases = [torch.rand(size, device="cuda").half() for size in (channels, height, width)]
    y = torch.empty_like(x)
    kernel = position_bias_faulty if bad else position_bias_mended
    return y, lambda: kernel[(images * channels * height,)](x, *biases, y, channels, height, width, BLOCK=1024,
                                                            num_warps=4)


KERNELS = {
    "layernorm_rows": layernorm_rows,
    "gram": gram,
    "half_product": half_product,
    "rowpeak": rowpeak,
    "gamma_curve": gamma_curve,
    "recurrence": recurrence,
    "wide_softmax": wide_softmax,
    "position_bias": position_bias,
}


if __name__ == "__main__":
    sys.exit(main(KERNELS))
