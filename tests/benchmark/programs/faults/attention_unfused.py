"""Attention written out: the scores go through memory for the scale, the softmax and the second product."""
import torch
from torch import nn

from workload import FIXED, steps


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def attend(self, q, k, v):
        if FIXED:
            return nn.functional.scaled_dot_product_attention(q, k, v)
        scores = q @ k.transpose(-2, -1)  # FAULT
        scores = scores * q.shape[-1] ** -0.5  # FAULT
        weights = scores.softmax(dim=-1)  # FAULT
        return weights @ v  # FAULT

    def forward(self, x):
        batch, tokens, width = x.shape
        qkv = self.qkv(self.norm(x)).view(batch, tokens, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        mixed = self.attend(q, k, v).transpose(1, 2).reshape(batch, tokens, width)
        return x + self.out(mixed)


def train_step(model, optimizer, batch):
    loss = model(batch).float().square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = nn.Sequential(*(Attention(1024, 16) for _ in range(4))).cuda().to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    batch = torch.randn(16, 2048, 1024, dtype=torch.bfloat16, device="cuda")
    for _ in steps(torch.cuda.synchronize):
        train_step(model, optimizer, batch)


if __name__ == "__main__":
    main()
