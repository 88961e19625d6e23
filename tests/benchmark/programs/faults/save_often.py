"""The training saves the model and its optimizer in every tenth step, although one step takes few milliseconds."""
import os
import tempfile

import torch

from models import mlp
from workload import FIXED, steps

SAVE_EVERY = 2000 if FIXED else 10


def save(model, optimizer, step, folder):
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
    torch.save(state, os.path.join(folder, "last.pt"))  # FAULT


def train_step(model, optimizer, batch):
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = mlp(2048, 4)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    batches = torch.randn(4, 65536, 2048, device="cuda")
    with tempfile.TemporaryDirectory() as folder:
        for step in steps(torch.cuda.synchronize):
            train_step(model, optimizer, batches[step % len(batches)])
            if step % SAVE_EVERY == SAVE_EVERY - 1:
                save(model, optimizer, step, folder)


if __name__ == "__main__":
    main()
