"""A particle simulation in eager mode: each time step launches a dozen kernels of 3 µs."""
import torch

from models import captured
from workload import FIXED, steps


def advance(position, velocity, dt):
    force = torch.sin(position) - 0.1 * velocity + 0.5 * torch.cos(2 * position)  # FAULT
    velocity = velocity + dt * force  # FAULT
    position = torch.remainder(position + dt * velocity, 6.2831853)  # FAULT
    return position, velocity


def main():
    position = torch.rand(1 << 19, device="cuda") * 6
    velocity = torch.zeros_like(position)

    def simulate():
        now, speed = position, velocity
        for _ in range(20):
            now, speed = advance(now, speed, 1e-3)
        position.copy_(now)
        velocity.copy_(speed - speed.mean())

    if FIXED:
        simulate = captured(simulate).replay
    for _ in steps(torch.cuda.synchronize):
        simulate()


if __name__ == "__main__":
    main()
