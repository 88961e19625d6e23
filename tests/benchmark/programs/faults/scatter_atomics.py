"""A confusion matrix by index_add_: millions of pixels are added to the same few addresses, one after the other."""
import torch
from torch import nn

from workload import FIXED, steps

CLASSES, CHANNELS, PIXELS = 4, 64, 8 << 20


def count_cells(cells, ones):
    if FIXED:
        return torch.bincount(cells, minlength=CLASSES ** 2)
    counts = torch.zeros(CLASSES ** 2, device="cuda")
    return counts.index_add_(0, cells, ones)  # FAULT


def main():
    features = torch.randn(PIXELS, CHANNELS, dtype=torch.bfloat16, device="cuda")
    background = torch.rand(PIXELS, device="cuda") < 0.95
    labels = torch.where(background, 0, torch.randint(1, CLASSES, (PIXELS,), device="cuda"))
    ones = torch.ones(PIXELS, device="cuda")
    head = nn.Linear(CHANNELS, CLASSES).to("cuda", torch.bfloat16)
    total = torch.zeros(CLASSES ** 2, dtype=torch.float64, device="cuda")
    head.bias.data[0] = 2.5  # background is the most frequent class
    with torch.inference_mode():
        for _ in steps(torch.cuda.synchronize):
            predicted = head(features).argmax(1)
            total += count_cells(labels * CLASSES + predicted, ones)


if __name__ == "__main__":
    main()
