"""A convolutional network; workers load ahead into pinned memory, and the GPU normalises."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from models import conv_net
from workload import steps


class Images(Dataset):
    def __init__(self):
        self.images = torch.randint(0, 256, (512, 3, 192, 192), dtype=torch.uint8)

    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        top, left = torch.randint(0, 32, (2,)).tolist()
        return self.images[index % len(self.images), :, top:top + 160, left:left + 160], index % 10


def train_step(model, optimizer, images, labels):
    images = images.to(torch.bfloat16, memory_format=torch.channels_last) / 127.5 - 1
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


def main():
    model = conv_net(256, 12)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9, fused=True)
    loader = DataLoader(Images(), batch_size=128, num_workers=10, pin_memory=True, prefetch_factor=4,
                        persistent_workers=True)
    for step, (images, labels) in zip(steps(torch.cuda.synchronize), loader):
        loss = train_step(model, optimizer, images.to("cuda", non_blocking=True), labels.to("cuda", non_blocking=True))
        if step % 100 == 99:
            print(f"step {step} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
