"""One DataLoader worker resizes all images; the training waits for it."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from models import conv_net
from workload import FIXED, steps


class Photos(Dataset):
    def __init__(self):
        self.photos = torch.randint(0, 256, (256, 3, 256, 256), dtype=torch.uint8)

    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        photo = self.photos[index % len(self.photos)].float()  # FAULT
        if index % 2:
            photo = photo.flip(2)
        photo = nn.functional.interpolate(photo[None], size=(224, 224), mode="bilinear", antialias=True)[0]  # FAULT
        return photo / 127.5 - 1, index % 10  # FAULT


def make_loader():
    return DataLoader(Photos(), batch_size=64, num_workers=12 if FIXED else 1, pin_memory=True)  # FAULT


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
