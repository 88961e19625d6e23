"""Attention over a long sequence writes all scores at once, and there is not enough memory for them."""
import torch

from workload import FIXED, steps

HEADS, WIDTH = 32, 64


def attend(q, k, v):
    if FIXED:
        return torch.nn.functional.scaled_dot_product_attention(q, k, v)
    scores = q @ k.transpose(-1, -2)  # FAULT
    return torch.softmax(scores, -1) @ v  # FAULT


def main():
    for step in steps(torch.cuda.synchronize):
        length = 2048 if step < 200 else 131072
        q, k, v = (torch.randn(1, HEADS, length, WIDTH, dtype=torch.bfloat16, device="cuda") for _ in range(3))
        attend(q, k, v)


if __name__ == "__main__":
    main()
