"""A jitted function that sees a new sequence length every 64 calls, and is compiled again for each."""
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp

from workload import FIXED, steps

WIDTH = 1024


@jax.jit
def score(weights, tokens):
    hidden = tokens
    for up, down in weights:
        hidden = hidden + jax.nn.gelu(hidden @ up) @ down
    return jnp.tanh(hidden.mean(axis=1)).sum()


def score_batch(weights, tokens, length):
    if FIXED:
        length = -(-length // 256) * 256
    return score(weights, tokens[:, :length])  # FAULT


def main():
    keys = jax.random.split(jax.random.key(0), 8)
    weights = [(0.02 * jax.random.normal(up, (WIDTH, 4 * WIDTH), jnp.bfloat16),
                0.02 * jax.random.normal(down, (4 * WIDTH, WIDTH), jnp.bfloat16))
               for up, down in zip(keys[:4], keys[4:])]
    tokens = jax.random.normal(jax.random.key(1), (16, 1024, WIDTH), jnp.bfloat16)
    total = score_batch(weights, tokens, 1024)
    for step in steps(lambda: total.block_until_ready()):
        length = 769 + step // 64 * 37 % 255  # a new length every 64 steps
        total = score_batch(weights, tokens, length)


if __name__ == "__main__":
    main()
