"""The images of a batch are normalised one after the other by a Python loop on the GPU."""
import torch

from models import conv_net
from workload import FIXED, steps

IMAGES, SIZE = 256, 128


def normalise(images):
    if FIXED:
        return (images - images.mean(dim=(1, 2, 3), keepdim=True)) / images.std(dim=(1, 2, 3), keepdim=True)
    normalised = []
    for image in images:
        normalised.append((image - image.mean()) / image.std())  # FAULT
    return torch.stack(normalised)


def main():
    model = conv_net(256, 6)
    model.eval()
    batches = torch.rand(4, IMAGES, 3, SIZE, SIZE, device="cuda")
    with torch.inference_mode():
        for step in steps(torch.cuda.synchronize):
            images = normalise(batches[step % len(batches)])
            model(images.to(torch.bfloat16, memory_format=torch.channels_last))


if __name__ == "__main__":
    main()
