"""Alignment score of many pairs of short words (recursive edit distance)."""
import functools
import os
import random


def distance(a, b):
    if not a or not b:
        return len(a) + len(b)
    if a[0] == b[0]:
        return distance(a[1:], b[1:])
    return 1 + min(distance(a[1:], b), distance(a, b[1:]), distance(a[1:], b[1:]))


if os.environ.get("FIXED"):
    distance = functools.lru_cache(maxsize=None)(distance)


def main():
    random.seed(9)
    words = ["".join(random.choice("acgt") for _ in range(8)) for _ in range(36)]
    best = {}
    for word in words:
        best[word] = min((distance(word, other), other) for other in words if other is not word)
    print(sum(score for score, _ in best.values()))


if __name__ == "__main__":
    main()
