"""What the programs of several ranks share. torchrun starts them, with one rank per GPU."""
import os
import time

import torch
import torch.distributed as dist
from torch import nn

from workload import SECONDS

RANK = int(os.environ["RANK"])


def start():
    torch.set_float32_matmul_precision("high")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl", device_id=torch.device("cuda", int(os.environ["LOCAL_RANK"])))


def layers(width, depth):
    return nn.Sequential(*[nn.Linear(width, width) for _ in range(depth)]).cuda()


def parallel(model, **options):
    return nn.parallel.DistributedDataParallel(model, device_ids=[torch.cuda.current_device()], **options)


def train(prepare):
    """Data-parallel steps of a model of 5.6 ms on an H100; `prepare(number, inputs)` comes before each."""
    start()
    model = parallel(layers(2048, 6))
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    inputs = torch.randn(8192, 2048, device="cuda")
    for number in steps():
        prepare(number, inputs)
        loss = model(inputs).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def steps():
    """Yields 0, 1, 2, … for SECONDS_OF_WORK, on all ranks as often. Then prints as workload.steps() does."""
    begin = time.perf_counter()
    number = 0
    over = torch.zeros(1, device="cuda")
    while True:
        if number % 50 == 0:
            over.fill_(float(time.perf_counter() - begin > SECONDS))
            dist.broadcast(over, 0)
            if over.item() > 0:
                break
        yield number
        number += 1
    torch.cuda.synchronize()
    if RANK == 0:
        print(f"steps {number} in {time.perf_counter() - begin:.3f} s", flush=True)
    dist.destroy_process_group()
