"""A DataLoader without workers: random crops, noise and normalisation run in the process that trains."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from models import conv_net
from workload import FIXED, steps


class Images(Dataset):
    def __init__(self):
        self.images = torch.randint(0, 256, (256, 3, 256, 256), dtype=torch.uint8)
        self.mean = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
        self.std = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)

    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        top, left = torch.randint(0, 32, (2,)).tolist()  # FAULT
        image = self.images[index % len(self.images), :, top:top + 224, left:left + 224].float() / 255  # FAULT
        image = (image - self.mean) / self.std  # FAULT
        return image + 0.05 * torch.randn_like(image), index % 10  # FAULT


def make_loader():
    return DataLoader(Images(), batch_size=64, num_workers=12 if FIXED else 0, pin_memory=True)  # FAULT


def train_step(model, optimizer, images, labels):
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = conv_net(256, 12)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9, fused=True)
    for _, (images, labels) in zip(steps(torch.cuda.synchronize), make_loader()):  # FAULT
        images = images.to("cuda", non_blocking=True).to(torch.bfloat16, memory_format=torch.channels_last)
        train_step(model, optimizer, images, labels.to("cuda", non_blocking=True))


if __name__ == "__main__":
    main()
