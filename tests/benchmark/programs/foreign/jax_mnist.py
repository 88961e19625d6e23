"""An MLP on generated digits, after the MNIST example of JAX's documentation."""
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp

LAYERS = [784, 1024, 1024, 10]
STEP_SIZE = 0.01
EPOCHS = 6
BATCH = 128


def random_layer(m, n, key, scale=1e-2):
    w_key, b_key = jax.random.split(key)
    return scale * jax.random.normal(w_key, (n, m)), scale * jax.random.normal(b_key, (n,))


def predict(params, image):
    activations = image
    for w, b in params[:-1]:
        activations = jax.nn.relu(jnp.dot(w, activations) + b)
    w, b = params[-1]
    logits = jnp.dot(w, activations) + b
    return logits - logsumexp(logits)


batched_predict = jax.vmap(predict, in_axes=(None, 0))


def loss(params, images, targets):
    return -jnp.mean(batched_predict(params, images) * targets)


@jax.jit
def accuracy(params, images, targets):
    return jnp.mean(jnp.argmax(batched_predict(params, images), axis=1) == jnp.argmax(targets, axis=1))


@jax.jit
def update(params, x, y):
    grads = jax.grad(loss)(params, x, y)
    return [(w - STEP_SIZE * dw, b - STEP_SIZE * db) for (w, b), (dw, db) in zip(params, grads)]


def main():
    keys = jax.random.split(jax.random.PRNGKey(0), len(LAYERS))
    params = [random_layer(m, n, k) for m, n, k in zip(LAYERS[:-1], LAYERS[1:], keys)]
    rng = np.random.default_rng(0)
    images = rng.random((60000, 784), dtype=np.float32)
    labels = np.eye(10, dtype=np.float32)[rng.integers(0, 10, 60000)]
    for epoch in range(EPOCHS):
        start = time.time()
        for first in range(0, len(images), BATCH):
            params = update(params, images[first:first + BATCH], labels[first:first + BATCH])
        score = float(accuracy(params, images[:10000], labels[:10000]))
        print(f"epoch {epoch} in {time.time() - start:.2f} s, accuracy {score:.3f}")


if __name__ == "__main__":
    main()
