"""Gradients of four batches are added up before each update; the loss stays on the GPU for 10 updates."""
import torch

from models import transformer
from workload import steps

MICRO_BATCHES = 4


def train_step(model, optimizer, micro_batches, total):
    for batch in micro_batches:
        loss = model(batch).float().square().mean() / MICRO_BATCHES
        loss.backward()
        total += loss.detach()
    optimizer.step()
    optimizer.zero_grad()


def main():
    model = transformer(2048, 2, heads=16)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    batches = torch.randn(2, MICRO_BATCHES, 16, 1024, 2048, dtype=torch.bfloat16, device="cuda")
    total = torch.zeros((), device="cuda")
    for step in steps(torch.cuda.synchronize):
        train_step(model, optimizer, batches[step % len(batches)], total)
        if step % 10 == 9:
            print(f"step {step} loss {total.item() / 10:.3f}")
            total.zero_()


if __name__ == "__main__":
    main()
