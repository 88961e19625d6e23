"""Removes duplicates with a list of those seen."""
import os
import sys


def unique(keys):
    seen = set() if os.environ.get("FIXED") else []
    add = seen.add if os.environ.get("FIXED") else seen.append
    for key in keys:
        if key not in seen:  # FAULT
            add(key)
    return seen


count = int(sys.argv[1]) if len(sys.argv) > 1 else 60000
print(len(unique([f"user-{i * 7919 % 40009}" for i in range(count)])))
