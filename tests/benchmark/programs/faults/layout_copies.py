"""A layer norm over the channels of images in NCHW: the activation is copied to NHWC before it and back after it."""
import torch
from torch import nn

from workload import FIXED, steps

IMAGES, CHANNELS, SIDE, DEPTH = 64, 256, 96, 8


class ChannelNorm(nn.LayerNorm):
    def forward(self, x):
        rows = x.permute(0, 2, 3, 1).contiguous()  # FAULT
        images = super().forward(rows).permute(0, 3, 1, 2)
        return images if FIXED else images.contiguous()  # FAULT


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = ChannelNorm(CHANNELS)
        self.conv = nn.Conv2d(CHANNELS, CHANNELS, 1, bias=False)

    def forward(self, x):
        return x + self.conv(self.norm(x))


def main():
    layout = torch.channels_last if FIXED else torch.contiguous_format
    model = nn.Sequential(*(Block() for _ in range(DEPTH))).to("cuda", torch.bfloat16, memory_format=layout)
    batches = [torch.randn(IMAGES, CHANNELS, SIDE, SIDE, dtype=torch.bfloat16, device="cuda").to(memory_format=layout)
               for _ in range(4)]
    with torch.inference_mode():
        for step in steps(torch.cuda.synchronize):
            model(batches[step % len(batches)])


if __name__ == "__main__":
    main()
