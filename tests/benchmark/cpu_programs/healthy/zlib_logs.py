"""Compresses blocks of log text."""
import random
import zlib

random.seed(1)
words = ["error", "warning", "connect", "timeout", "user", "session", "open", "closed", "retry"]
block = "\n".join(" ".join(random.choices(words, k=8)) + f" {i}" for i in range(40_000)).encode()
size = 0
for i in range(45):
    size += len(zlib.compress(block, 6))
print(size)
