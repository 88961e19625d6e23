"""Every layer of a JAX network is waited for before the next one is launched."""
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp

from workload import FIXED, steps

ROWS, WIDTH, LAYERS = 2048, 4096, 12


@jax.jit
def layer(weight, x):
    return jax.nn.relu(x @ weight)


def forward(weights, x):
    for weight in weights:
        x = layer(weight, x)
        if not FIXED:
            x.block_until_ready()  # FAULT
    return x


def main():
    keys = jax.random.split(jax.random.key(0), LAYERS)
    weights = [0.02 * jax.random.normal(key, (WIDTH, WIDTH), jnp.bfloat16) for key in keys]
    x = jax.random.normal(jax.random.key(1), (ROWS, WIDTH), jnp.bfloat16)
    result = forward(weights, x)
    for _ in steps(lambda: result.block_until_ready()):
        result = forward(weights, x)


if __name__ == "__main__":
    main()
