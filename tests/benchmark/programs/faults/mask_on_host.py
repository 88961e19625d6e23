"""Every layer builds its causal mask on the host in each forward pass, and copies it to the GPU."""
import torch
from torch import nn

from workload import FIXED, steps

WIDTH, HEADS, TOKENS = 1024, 16, 3072


def causal_mask(device, dtype):
    mask = torch.triu(torch.full((TOKENS, TOKENS), float("-inf")), diagonal=1)  # FAULT
    return mask.to(device, dtype)  # FAULT


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.register_buffer("mask", causal_mask("cuda", torch.bfloat16) if FIXED else None)

    def forward(self, x):
        qkv = self.qkv(self.norm(x)).view(len(x), TOKENS, 3, HEADS, WIDTH // HEADS)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        mask = self.mask if FIXED else causal_mask(q.device, q.dtype)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return x + self.out(mixed.transpose(1, 2).reshape(x.shape))


def train_step(model, optimizer, batch):
    loss = model(batch).float().square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = nn.Sequential(*(Attention() for _ in range(4))).cuda().to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    batches = torch.randn(4, 4, TOKENS, WIDTH, dtype=torch.bfloat16, device="cuda")
    for step in steps(torch.cuda.synchronize):
        train_step(model, optimizer, batches[step % len(batches)])


if __name__ == "__main__":
    main()
