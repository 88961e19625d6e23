"""Every step wraps a new lambda in jax.jit, so that every step traces and compiles it again."""
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp

from workload import FIXED, steps

ROWS, WIDTH, LAYERS = 8192, 8192, 24


def forward(weights, batch, scale):
    layer = lambda x, weight: (jax.nn.relu(scale * (x @ weight)), None)
    return jax.lax.scan(layer, batch, weights)[0].mean()


forward_once = jax.jit(forward)


def evaluate(weights, batch, scale):
    if FIXED:
        return forward_once(weights, batch, scale)
    return jax.jit(lambda weights, batch: forward(weights, batch, scale))(weights, batch)  # FAULT


def main():
    weights = 0.02 * jax.random.normal(jax.random.key(0), (LAYERS, WIDTH, WIDTH), jnp.bfloat16)
    batches = [jax.random.normal(key, (ROWS, WIDTH), jnp.bfloat16) for key in jax.random.split(jax.random.key(1), 4)]
    scale = jnp.bfloat16(0.78)
    total = evaluate(weights, batches[0], scale)
    for step in steps(lambda: total.block_until_ready()):
        total = evaluate(weights, batches[step % len(batches)], scale)


if __name__ == "__main__":
    main()
