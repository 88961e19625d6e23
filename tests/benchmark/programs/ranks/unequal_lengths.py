"""One rank has the long sequences: its attention takes longer than that of the others."""
import torch
from torch import nn

from job import RANK, parallel, start, steps
from workload import FIXED


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        parts = [part.unflatten(-1, (16, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, -1)]
        mixed = nn.functional.scaled_dot_product_attention(*parts)  # FAULT
        return x + self.out(mixed.transpose(1, 2).flatten(-2))


def train_step(model, optimizer, inputs):
    with torch.autocast("cuda", torch.bfloat16):
        loss = model(inputs).square().mean()  # FAULT
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    start()
    model = parallel(nn.Sequential(*[Block(1024) for _ in range(6)]).cuda())
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    length = 8192 if RANK == 0 and not FIXED else 2048
    inputs = torch.randn(16384 // length, length, 1024, device="cuda")
    for _ in steps():
        train_step(model, optimizer, inputs)


if __name__ == "__main__":
    main()
