"""NumPy flips and brightens the images of each batch and adds noise, in the process that trains."""
import numpy as np
import torch
from torch import nn

from models import conv_net
from workload import steps

BATCH, SIZE = 64, 160


def augment(images, staging, random):
    flipped = np.where(random.random((len(images), 1, 1, 1)) < 0.5, images[..., ::-1], images)  # FAULT
    brightness = random.uniform(0.8, 1.2, (len(images), 1, 1, 1)).astype(np.float32)  # FAULT
    noise = random.standard_normal(images.shape, dtype=np.float32)  # FAULT
    np.add(flipped * brightness, 0.05 * noise, out=staging)  # FAULT


def train_step(model, optimizer, images, labels):
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = conv_net(64, 6)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9, fused=True)
    random = np.random.default_rng(0)
    images = random.random((4, BATCH, 3, SIZE, SIZE), dtype=np.float32)
    labels = torch.randint(10, (BATCH,), device="cuda")
    staging = torch.empty(BATCH, 3, SIZE, SIZE).pin_memory()
    for step in steps(torch.cuda.synchronize):
        augment(images[step % len(images)], staging.numpy(), random)
        batch = staging.to("cuda").to(torch.bfloat16, memory_format=torch.channels_last)
        train_step(model, optimizer, batch, labels)


if __name__ == "__main__":
    main()
