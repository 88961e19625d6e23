"""A compiled training step of a transformer in bf16, with fused attention and a fused optimizer."""
import torch

from models import transformer
from workload import steps


def loss_of(model, batch):
    return model(batch).float().square().mean()


def train_step(loss_function, model, optimizer, batch):
    loss = loss_function(model, batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = transformer(1536, 4, heads=12)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    loss_function = torch.compile(loss_of)
    batches = torch.randn(8, 16, 1024, 1536, dtype=torch.bfloat16, device="cuda")
    for warm_up in range(3):
        train_step(loss_function, model, optimizer, batches[warm_up])
    for step in steps(torch.cuda.synchronize):
        train_step(loss_function, model, optimizer, batches[step % len(batches)])


if __name__ == "__main__":
    main()
