"""Every fiftieth step saves the model, and the training waits until it is written."""
import os
import tempfile

import torch

from models import transformer
from workload import steps


def save(model, folder):
    torch.save(model.state_dict(), os.path.join(folder, "model.pt"))  # FAULT


def train_step(model, optimizer, batch):
    loss = model(batch).float().square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = transformer(1024, 8)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    batch = torch.randn(8, 512, 1024, dtype=torch.bfloat16, device="cuda")
    with tempfile.TemporaryDirectory() as folder:
        for step in steps(torch.cuda.synchronize):
            train_step(model, optimizer, batch)
            if step % 50 == 49:
                save(model, folder)


if __name__ == "__main__":
    main()
