"""The evaluation brings the scores of 4096 classes to the host, where it counts the right answers."""
import torch
from torch import nn

from models import mlp
from workload import FIXED, steps

BATCH, FEATURES, CLASSES = 4096, 4096, 4096


def evaluate(model, batches, labels):
    correct = 0
    for batch in batches:
        scores = model(batch).cpu()  # FAULT
        correct += (scores.argmax(dim=1) == labels).sum().item()  # FAULT
    return correct


def evaluate_on_gpu(model, batches, labels):
    return sum((model(batch).argmax(dim=1) == labels).sum() for batch in batches).item()


def train_step(model, optimizer, batch, labels):
    loss = nn.functional.cross_entropy(model(batch), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = mlp(FEATURES, 3, classes=CLASSES)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, fused=True)
    batches = torch.randn(8, BATCH, FEATURES, device="cuda")
    labels = torch.randint(CLASSES, (BATCH,), device="cuda")
    host_labels = labels.cpu()
    for step in steps(torch.cuda.synchronize):
        train_step(model, optimizer, batches[step % 5], labels)
        if step % 4 == 3:
            with torch.inference_mode():
                if FIXED:
                    evaluate_on_gpu(model, batches[5:], labels)
                else:
                    evaluate(model, batches[5:], host_labels)


if __name__ == "__main__":
    main()
