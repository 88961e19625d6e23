"""Training with an evaluation after every 20 steps; the GPU counts the right answers, read once per evaluation."""
import torch
from torch import nn

from models import mlp
from workload import steps

BATCH, FEATURES, CLASSES = 4096, 4096, 1000


def evaluate(model, batches, labels):
    correct = torch.zeros((), dtype=torch.int64, device="cuda")
    model.eval()
    with torch.inference_mode():
        for batch in batches:
            correct += (model(batch).argmax(dim=1) == labels).sum()
    model.train()
    return correct.item() / (len(batches) * BATCH)


def train_step(model, optimizer, batch, labels):
    loss = nn.functional.cross_entropy(model(batch), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = mlp(FEATURES, 4, classes=CLASSES)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    batches = torch.randn(16, BATCH, FEATURES, device="cuda")
    labels = torch.randint(CLASSES, (BATCH,), device="cuda")
    for step in steps(torch.cuda.synchronize):
        train_step(model, optimizer, batches[step % 12], labels)
        if step % 20 == 19:
            print(f"step {step} accuracy {evaluate(model, batches[12:], labels):.4f}")


if __name__ == "__main__":
    main()
