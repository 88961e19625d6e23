"""A data-parallel training whose all-reduces overlap the backward pass."""
import torch

from job import layers, parallel, start, steps


def main():
    start()
    model = parallel(layers(2048, 8), gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(model.parameters(), 1e-4, foreach=True)
    inputs = torch.randn(16384, 2048, device="cuda")
    for _ in steps():
        loss = model(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
