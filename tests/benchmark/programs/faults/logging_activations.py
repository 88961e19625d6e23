"""A hook logs the mean and the deviation of every layer's output; formatting a number waits for the GPU."""
import logging
import os
import tempfile

import torch

from models import mlp
from workload import steps


def log_output(module, inputs, output):
    logging.info("%s %s mean %.4f deviation %.4f", type(module).__name__, tuple(output.shape), output.mean(),
                 output.std())  # FAULT


def main():
    model = mlp(2048, 8)
    for layer in model:
        layer.register_forward_hook(log_output)
    batches = torch.randn(16, 2048, 2048, device="cuda")
    with tempfile.TemporaryDirectory() as folder:
        logging.basicConfig(filename=os.path.join(folder, "activations.log"), level=logging.INFO)
        with torch.inference_mode():
            for step in steps(torch.cuda.synchronize):
                model(batches[step % len(batches)])


if __name__ == "__main__":
    main()
