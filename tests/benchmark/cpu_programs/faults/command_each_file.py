"""Asks another program for the size of each file."""
import os
import subprocess
import sys


def size(path):
    if os.environ.get("FIXED"):
        return os.stat(path).st_size
    return int(subprocess.run(["stat", "-c", "%s", path], capture_output=True).stdout)  # FAULT


names = [entry.path for entry in os.scandir("/usr/lib/x86_64-linux-gnu") if entry.is_file()][:200]
rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 12
print(sum(size(name) for _ in range(rounds) for name in names))
