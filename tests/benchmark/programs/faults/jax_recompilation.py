"""A jitted function that sees a new sequence length every 16 calls, and is compiled again for each."""
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp
import numpy as np

from workload import steps

WIDTH = 512


@jax.jit
def score(weights, tokens):
    hidden = tokens
    for up, down in weights:
        hidden = hidden + jax.nn.gelu(hidden @ up) @ down
    return jnp.tanh(hidden.mean(axis=1)).sum()


def score_batch(weights, tokens, length):
    return score(weights, tokens[:, :length])  # FAULT


def main():
    keys = jax.random.split(jax.random.key(0), 8)
    weights = [(0.02 * jax.random.normal(up, (WIDTH, 4 * WIDTH)), 0.02 * jax.random.normal(down, (4 * WIDTH, WIDTH)))
               for up, down in zip(keys[:4], keys[4:])]
    tokens = np.random.default_rng(0).standard_normal((4, 1024, WIDTH), dtype=np.float32)
    total = score_batch(weights, tokens, 64)
    for step in steps(lambda: total.block_until_ready()):
        length = 65 + step // 16 * 37 % 953  # a new length every 16 steps
        total = score_batch(weights, tokens, length)


if __name__ == "__main__":
    main()
