"""Samples are appended to an array that is copied for each."""
import os
import sys

import numpy as np


def record(count):
    if os.environ.get("FIXED"):
        return np.array([(i * 7919) % 1000 * 0.5 for i in range(count)])
    samples = np.empty(0)
    for i in range(count):
        samples = np.append(samples, (i * 7919) % 1000 * 0.5)  # FAULT
    return samples


print(record(int(sys.argv[1]) if len(sys.argv) > 1 else 70000).mean())
