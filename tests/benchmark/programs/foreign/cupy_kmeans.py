"""K-means clustering in CuPy, after the example of its repository."""
import contextlib
import time

import cupy as cp
import numpy as np


@contextlib.contextmanager
def timer(message):
    cp.cuda.Stream.null.synchronize()
    start = time.time()
    yield
    cp.cuda.Stream.null.synchronize()
    print(f"{message}: {time.time() - start:.3f} s")


def fit_xp(X, n_clusters, max_iter):
    xp = cp.get_array_module(X)
    n_samples = len(X)
    pred = xp.zeros(n_samples)
    initial_indexes = xp.random.choice(n_samples, n_clusters, replace=False)
    centers = X[initial_indexes]
    for _ in range(max_iter):
        distances = xp.linalg.norm(X[:, None, :] - centers[None, :, :], axis=2)
        new_pred = xp.argmin(distances, axis=1)
        if xp.all(new_pred == pred):
            break
        pred = new_pred
        i = xp.arange(n_clusters)
        mask = pred == i[:, None]
        sums = xp.where(mask[:, :, None], X, 0).sum(axis=1)
        counts = xp.count_nonzero(mask, axis=1).reshape((n_clusters, 1))
        centers = sums / counts
    return centers, pred


def main():
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(1_000_000, 2)).astype(np.float32)
    X_train = cp.asarray(np.r_[samples + 1, samples - 1])
    for number in range(5):
        with timer(f"fit {number}"):
            fit_xp(X_train, 5, 100)


if __name__ == "__main__":
    main()
