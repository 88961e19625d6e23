"""Every batch of features is kept on the host for a report that is never written."""
import numpy as np
import torch

from models import mlp
from workload import FIXED, steps

ROWS, FEATURES = 4096, 2048


def prepare(generator, history):
    batch = generator.random((ROWS, FEATURES), dtype=np.float32)  # FAULT
    if not FIXED:
        history.append(batch)  # FAULT
    return torch.from_numpy(batch)


def main():
    model = mlp(4096, 4, inputs=FEATURES).requires_grad_(False)
    generator, history = np.random.default_rng(0), []
    for _ in steps(torch.cuda.synchronize):
        model(prepare(generator, history).cuda())
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
