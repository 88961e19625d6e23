"""A particle simulation in eager mode: each time step launches a dozen kernels of 2 µs."""
import torch

from workload import steps


def advance(position, velocity, dt):
    force = torch.sin(position) - 0.1 * velocity + 0.5 * torch.cos(2 * position)  # FAULT
    velocity = velocity + dt * force  # FAULT
    position = torch.remainder(position + dt * velocity, 6.2831853)  # FAULT
    return position, velocity


def main():
    position = torch.rand(8192, device="cuda") * 6
    velocity = torch.zeros_like(position)
    for _ in steps(torch.cuda.synchronize):
        for _ in range(20):
            position, velocity = advance(position, velocity, 1e-3)
        velocity -= velocity.mean()


if __name__ == "__main__":
    main()
