"""Two DataLoader workers parse large JSON records, of which the training needs a few numbers; it waits for them."""
import json
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from models import mlp
from workload import FIXED, steps

FEATURES, EVENTS = 512, 500


def make_record(number):
    events = [{"time": random.random(), "value": random.randint(0, 10 ** 6), "tag": f"sensor/{event % 37}"}
              for event in range(EVENTS)]
    features = [round(random.random(), 5) for _ in range(FEATURES)]
    return json.dumps({"label": number % 10, "features": features, "events": events})


class Records(Dataset):
    def __init__(self):
        self.records = [make_record(number) for number in range(400)]

    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        record = json.loads(self.records[index % len(self.records)])  # FAULT
        return torch.tensor(record["features"]), record["label"]  # FAULT


def make_loader():
    return DataLoader(Records(), batch_size=128, num_workers=12 if FIXED else 2, pin_memory=True)  # FAULT


def train_step(model, optimizer, batch, labels):
    loss = nn.functional.cross_entropy(model(batch), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    model = mlp(8192, 4, inputs=FEATURES)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    for _, (batch, labels) in zip(steps(torch.cuda.synchronize), make_loader()):  # FAULT
        batch, labels = batch.to("cuda", non_blocking=True), labels.to("cuda", non_blocking=True)
        train_step(model, optimizer, batch, labels)


if __name__ == "__main__":
    main()
