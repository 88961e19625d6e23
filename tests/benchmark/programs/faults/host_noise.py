"""Train a small convolutional denoiser with a reproducible noise stream."""
import os
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

SECONDS = float(os.environ.get("SECONDS_OF_WORK", "6"))
FIXED = os.environ.get("FIXED") == "1"
BATCH, SIZE = 64, 256


class Denoiser(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.stem = nn.Conv2d(4, width, 4, stride=4)
        self.body = nn.ModuleList(nn.Conv2d(width * 4 if i else width, width * 4, 3, padding=1)
                                  for i in range(6))
        self.out = nn.Conv2d(width * 4, 3 * 16, 1)

    def forward(self, x, level):
        level = level.view(-1, 1, 1, 1).expand(-1, 1, SIZE, SIZE)
        x = self.stem(torch.cat([x, level], 1))
        for conv in self.body:
            x = F.silu(conv(x))
        return F.pixel_shuffle(self.out(x), 4)


class NoiseSource:
    """Seeded noise, so that a run can be repeated exactly."""

    def __init__(self, seed):
        self.generator = torch.Generator("cuda" if FIXED else "cpu").manual_seed(seed)  # FAULT

    def like(self, images):
        noise = torch.randn(images.shape, generator=self.generator,  # FAULT
                            device=self.generator.device)  # FAULT
        return noise.to(images.device, images.dtype)  # FAULT


def train_step(model, optimizer, source, images):
    noise = source.like(images)  # FAULT
    level = torch.rand(len(images), device="cuda", dtype=images.dtype)
    scale = level.view(-1, 1, 1, 1)
    noisy = torch.lerp(images, noise, scale).to(memory_format=torch.channels_last)
    loss = F.mse_loss(model(noisy, level), noise)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.detach()


def main():
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    model = Denoiser().to("cuda", torch.bfloat16, memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    source = NoiseSource(7)
    pool = torch.randn(4, BATCH, 3, SIZE, SIZE, device="cuda", dtype=torch.bfloat16)
    for i in range(4):
        train_step(model, optimizer, source, pool[i % 4])
    torch.cuda.synchronize()
    begin, step = time.time(), 0
    while time.time() - begin < SECONDS:
        loss = train_step(model, optimizer, source, pool[step % 4])
        step += 1
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    torch.cuda.synchronize()
    print(f"steps {step} in {time.time() - begin:.3f} s", flush=True)


if __name__ == "__main__":
    main()
