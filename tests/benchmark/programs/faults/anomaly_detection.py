"""Anomaly detection is on, left over from a search for NaN: every gradient is checked, and the check read back."""
import torch

from models import transformer
from workload import FIXED, steps


def train_step(model, optimizer, batch):
    loss = model(batch).float().square().mean()
    optimizer.zero_grad()
    loss.backward()  # FAULT
    optimizer.step()


def main():
    torch.autograd.set_detect_anomaly(not FIXED)  # FAULT
    model = transformer(2048, 4, heads=16)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    batches = torch.randn(4, 8, 1024, 2048, dtype=torch.bfloat16, device="cuda")
    for step in steps(torch.cuda.synchronize):
        train_step(model, optimizer, batches[step % len(batches)])


if __name__ == "__main__":
    main()
