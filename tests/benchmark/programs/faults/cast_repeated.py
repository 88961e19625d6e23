"""Inference with fp32 weights that are converted to bf16 in every call."""
import torch
from torch import nn

from workload import steps


class CastingLinear(nn.Linear):
    def forward(self, x):
        return nn.functional.linear(x, self.weight.to(x.dtype))  # FAULT


def main():
    model = nn.Sequential(*(CastingLinear(6144, 6144, bias=False) for _ in range(6))).cuda()
    batches = torch.randn(8, 128, 6144, dtype=torch.bfloat16, device="cuda")
    with torch.inference_mode():
        for step in steps(torch.cuda.synchronize):
            model(batches[step % len(batches)])


if __name__ == "__main__":
    main()
