"""Train a shop-session model: item histories in, the category of the next purchase out."""
import os
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

SECONDS = float(os.environ.get("SECONDS_OF_WORK", "6"))
FIXED = os.environ.get("FIXED") == "1"
ITEMS, CATEGORIES, WIDTH, LAYERS, BATCH, LENGTH = 50_000, 512, 1024, 4, 128, 128


class ItemEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(ITEMS, WIDTH) * 0.02)

    def forward(self, items):
        if FIXED:
            return F.embedding(items, self.weight)
        indicator = F.one_hot(items, ITEMS).to(self.weight.dtype)  # FAULT
        return indicator @ self.weight  # FAULT


class MixerLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.time = nn.Linear(LENGTH, LENGTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        x = x + self.time(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class SessionModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = ItemEncoder()
        self.layers = nn.Sequential(*(MixerLayer() for _ in range(LAYERS)))
        self.head = nn.Linear(WIDTH, CATEGORIES)

    def forward(self, items):
        return self.head(self.layers(self.items(items)).mean(1))  # FAULT


def train_step(model, optimizer, items, category):
    loss = F.cross_entropy(model(items).float(), category)
    loss.backward()  # FAULT
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.detach()


def main():
    torch.manual_seed(0)
    model = SessionModel().to("cuda", torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    items = torch.randint(0, ITEMS, (8, BATCH, LENGTH), device="cuda")
    category = torch.randint(0, CATEGORIES, (8, BATCH), device="cuda")
    for i in range(4):
        train_step(model, optimizer, items[i], category[i])
    torch.cuda.synchronize()
    begin, step = time.time(), 0
    while time.time() - begin < SECONDS:
        loss = train_step(model, optimizer, items[step % 8], category[step % 8])
        step += 1
        if step % 50 == 0:
            print(f"step {step} loss {loss.item():.3f}")
    torch.cuda.synchronize()
    print(f"steps {step} in {time.time() - begin:.3f} s", flush=True)


if __name__ == "__main__":
    main()
