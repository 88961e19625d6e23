"""A jitted training step in JAX, with donated buffers; the loss is printed every 100 steps."""
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import collections
import functools

import jax
import jax.numpy as jnp

from workload import steps

WIDTH, LAYERS, BATCH = 4096, 4, 8192


def loss_of(weights, batch):
    x = batch
    for weight in weights:
        x = jax.nn.relu(x @ weight)
    return jnp.mean(jnp.square(x.astype(jnp.float32)))


@functools.partial(jax.jit, donate_argnums=(0, 1))
def train_step(weights, momenta, batch):
    loss, gradients = jax.value_and_grad(loss_of)(weights, batch)
    momenta = [0.9 * momentum + gradient for momentum, gradient in zip(momenta, gradients)]
    weights = [weight - 1e-3 * momentum for weight, momentum in zip(weights, momenta)]
    return weights, momenta, loss


def main():
    keys = jax.random.split(jax.random.key(0), LAYERS + 4)
    weights = [0.02 * jax.random.normal(key, (WIDTH, WIDTH), jnp.bfloat16) for key in keys[:LAYERS]]
    momenta = [jnp.zeros_like(weight) for weight in weights]
    batches = [jax.random.normal(key, (BATCH, WIDTH), jnp.bfloat16) for key in keys[LAYERS:]]
    losses = collections.deque(maxlen=4)
    weights, momenta, loss = train_step(weights, momenta, batches[0])
    for step in steps(lambda: loss.block_until_ready()):
        weights, momenta, loss = train_step(weights, momenta, batches[step % len(batches)])
        losses.append(loss)
        if step % 100 == 99:
            print(f"step {step} loss {float(losses[0]):.4f}")  # of an earlier step: nothing waits for the newest


if __name__ == "__main__":
    main()
