"""All gradients are reduced after the backward pass, at which no kernel runs."""
import torch
import torch.distributed as dist

from job import layers, parallel, start, steps
from workload import FIXED


def reduce_gradients(model):
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)  # FAULT


def main():
    start()
    model = layers(8192, 4)
    if FIXED:
        model = parallel(model, gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    inputs = torch.randn(2048, 8192, device="cuda")
    for _ in steps():
        loss = model(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        if not FIXED:
            reduce_gradients(model)
        optimizer.step()


if __name__ == "__main__":
    main()
