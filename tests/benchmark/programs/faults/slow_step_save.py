"""Every twentieth step saves the model, and the training waits until it is written."""
import concurrent.futures
import os
import tempfile

import torch

from models import transformer
from workload import FIXED, steps


def save(model, folder, writer):
    path = os.path.join(folder, "model.pt")
    if FIXED:
        writer.submit(torch.save, {name: value.cpu() for name, value in model.state_dict().items()}, path)
    else:
        torch.save(model.state_dict(), path)  # FAULT


def train_step(model, optimizer, batch):
    loss = model(batch).float().square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = transformer(2048, 2, heads=16)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    batch = torch.randn(16, 1024, 2048, dtype=torch.bfloat16, device="cuda")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(1) as writer:
        for step in steps(torch.cuda.synchronize):
            train_step(model, optimizer, batch)
            if step % 20 == 19:
                save(model, folder, writer)


if __name__ == "__main__":
    main()
