"""NumPy flips and brightens the images of each batch and adds noise, in the process that trains."""
import numpy as np
import torch
from torch import nn

from loading import load_ahead, load_now
from models import conv_net
from workload import FIXED, steps

BATCH, SIZE = 64, 160
RANDOM = np.random.default_rng(0)


def augment(images):
    flipped = np.where(RANDOM.random((len(images), 1, 1, 1)) < 0.5, images[..., ::-1], images)  # FAULT
    brightness = RANDOM.uniform(0.8, 1.2, (len(images), 1, 1, 1)).astype(np.float32)  # FAULT
    noise = RANDOM.standard_normal(images.shape, dtype=np.float32)  # FAULT
    return torch.from_numpy(flipped * brightness + 0.05 * noise)  # FAULT


def train_step(model, optimizer, images, labels):
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = conv_net(384, 8)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9, fused=True)
    images = RANDOM.random((4, BATCH, 3, SIZE, SIZE), dtype=np.float32)
    batches = (load_ahead if FIXED else load_now)(augment, images)
    labels = torch.randint(10, (BATCH,), device="cuda")
    staging = torch.empty(BATCH, 3, SIZE, SIZE).pin_memory()
    for _ in steps(torch.cuda.synchronize):
        batch = staging.copy_(next(batches)).to("cuda").to(torch.bfloat16, memory_format=torch.channels_last)
        train_step(model, optimizer, batch, labels)


if __name__ == "__main__":
    main()
