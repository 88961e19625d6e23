"""A hook logs the mean and the deviation of every layer's output; formatting a number waits for the GPU."""
import logging
import os
import tempfile

import torch

from models import mlp
from workload import FIXED, steps


class ActivationLog:
    def __init__(self, interval):
        self.interval, self.step = interval, 0

    def log_output(self, module, inputs, output):
        if self.step % self.interval == 0:
            logging.info("%s %s mean %.4f deviation %.4f", type(module).__name__, tuple(output.shape), output.mean(),
                         output.std())  # FAULT


def main():
    model = mlp(4096, 8)
    log = ActivationLog(interval=100 if FIXED else 1)
    for layer in model:
        layer.register_forward_hook(log.log_output)
    batches = torch.randn(16, 2048, 4096, device="cuda")
    with tempfile.TemporaryDirectory() as folder:
        logging.basicConfig(filename=os.path.join(folder, "activations.log"), level=logging.INFO)
        with torch.inference_mode():
            for step in steps(torch.cuda.synchronize):
                log.step = step
                model(batches[step % len(batches)])


if __name__ == "__main__":
    main()
