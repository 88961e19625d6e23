"""Short epochs of few batches: the loader starts its worker processes again for each of them."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from models import conv_net
from workload import FIXED, steps

BATCH, BATCHES_IN_EPOCH = 64, 4


class Tiles(Dataset):
    def __init__(self):
        self.tiles = torch.randint(0, 256, (BATCH * BATCHES_IN_EPOCH, 3, 192, 192), dtype=torch.uint8)

    def __len__(self):
        return len(self.tiles)

    def __getitem__(self, index):
        return self.tiles[index].flip(2), index % 10


def train_step(model, optimizer, tiles, labels):
    images = tiles.to("cuda", non_blocking=True).to(torch.bfloat16, memory_format=torch.channels_last) / 255
    loss = nn.functional.cross_entropy(model(images), labels.to("cuda", non_blocking=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def epochs(loader):
    while True:
        yield from loader  # FAULT


def main():
    model = conv_net(256, 12)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9, fused=True)
    loader = DataLoader(Tiles(), BATCH, num_workers=6, pin_memory=True, persistent_workers=FIXED)  # FAULT
    for _, (tiles, labels) in zip(steps(torch.cuda.synchronize), epochs(loader)):  # FAULT
        train_step(model, optimizer, tiles, labels)


if __name__ == "__main__":
    main()
