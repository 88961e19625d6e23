"""Python objects are gathered from all ranks in every step: pickled, copied and waited for."""
import torch
import torch.distributed as dist

from job import RANK, layers, parallel, start, steps
from workload import FIXED


def share_metrics(metrics):
    if FIXED:
        return [metrics]
    everywhere = [None] * dist.get_world_size()
    dist.all_gather_object(everywhere, metrics)  # FAULT
    return everywhere


def main():
    start()
    model = parallel(layers(2048, 2))
    optimizer = torch.optim.SGD(model.parameters(), 1e-4, foreach=True)
    inputs = torch.randn(4096, 2048, device="cuda")
    metrics = {f"sample {i}": (RANK, i / 7) for i in range(20000)}
    for _ in steps():
        loss = model(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        share_metrics(metrics)


if __name__ == "__main__":
    main()
