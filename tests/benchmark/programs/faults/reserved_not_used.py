"""Documents get longer and longer, and each length has blocks of its own in the caching allocator."""
import torch
from torch import nn

from workload import FIXED, steps

WIDTH, LONGEST = 2048, 96 * 1024


def length_of(step):
    if FIXED:
        return LONGEST
    return min(LONGEST, 2048 + 1024 * (step // 4 % 96))


def encode(layer, tokens):
    hidden = layer(tokens)  # FAULT
    return hidden.amax(0)


def main():
    layer = nn.Linear(WIDTH, WIDTH).cuda().to(torch.bfloat16).requires_grad_(False)
    for step in steps(torch.cuda.synchronize):
        document = torch.zeros(length_of(step), WIDTH, dtype=torch.bfloat16, device="cuda")  # FAULT
        encode(layer, document)
        del document
    print(f"reserved {torch.cuda.max_memory_reserved() / 1e9:.1f} GB, "
          f"allocated {torch.cuda.max_memory_allocated() / 1e9:.1f} GB")


if __name__ == "__main__":
    main()
