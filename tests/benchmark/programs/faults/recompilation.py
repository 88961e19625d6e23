"""torch.compile with static shapes, and sequences whose length changes: every new length compiles again."""
import torch
import torch._dynamo
from torch import nn

from workload import FIXED, steps

torch._dynamo.config.recompile_limit = 10000
torch._dynamo.config.accumulated_recompile_limit = 10000
torch.set_float32_matmul_precision("high")

WIDTH = 1024


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return (x + self.down(nn.functional.gelu(self.up(self.norm(x))))).mean(dim=1).tanh()


def score(scorer, tokens):
    return scorer(tokens)  # FAULT


def main():
    scorer = torch.compile(Scorer().cuda(), dynamic=FIXED)  # FAULT
    tokens = torch.randn(32, 2048, WIDTH, device="cuda")
    with torch.inference_mode():
        score(scorer, tokens[:, :1024])
        for step in steps(torch.cuda.synchronize):
            length = 1025 + step // 128 * 37 % 1021  # a new length every 128 steps
            score(scorer, tokens[:, :length])


if __name__ == "__main__":
    main()
