"""Eager training of a transformer with a batch large enough to hide all launches."""
import torch

from models import transformer
from workload import steps


def train_step(model, optimizer, batch):
    loss = model(batch).float().square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


def main():
    model = transformer(1536, 4, heads=12)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    batches = torch.randn(8, 32, 1024, 1536, dtype=torch.bfloat16, device="cuda")
    for step in steps(torch.cuda.synchronize):
        loss = train_step(model, optimizer, batches[step % len(batches)])
        if step % 100 == 99:
            print(f"step {step} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
