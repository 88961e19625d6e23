"""Inference with fp32 weights that are converted to bf16 in every call."""
import torch
from torch import nn

from workload import FIXED, steps


class CastingLinear(nn.Linear):
    def forward(self, x):
        return nn.functional.linear(x, self.weight.to(x.dtype))  # FAULT


def main():
    model = nn.Sequential(*(CastingLinear(8192, 8192, bias=False) for _ in range(6))).cuda()
    if FIXED:
        model.to(torch.bfloat16)
    batches = torch.randn(8, 768, 8192, dtype=torch.bfloat16, device="cuda")
    with torch.inference_mode():
        for step in steps(torch.cuda.synchronize):
            model(batches[step % len(batches)])


if __name__ == "__main__":
    main()
