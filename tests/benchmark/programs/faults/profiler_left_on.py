"""torch.profiler with stacks and shapes was left on after a search for a bottleneck; every second step closes a trace."""
import contextlib

import torch
from torch.profiler import ProfilerActivity, profile, schedule

from models import mlp
from workload import FIXED, steps


def recorder():
    if FIXED:
        return contextlib.nullcontext()
    return profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=0, warmup=0, active=2), with_stack=True,  # FAULT
                   record_shapes=True, on_trace_ready=lambda done: done.key_averages())  # FAULT


def train_step(model, optimizer, batch):
    for part in batch.split(64):
        model(part).square().mean().backward()  # FAULT
    optimizer.step()
    optimizer.zero_grad()


def main():
    model = mlp(512, 16)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    batch = torch.randn(256, 512, device="cuda")
    with recorder() as record:
        for _ in steps(torch.cuda.synchronize):
            train_step(model, optimizer, batch)
            if record is not None:
                record.step()  # FAULT


if __name__ == "__main__":
    main()
