"""Sends one number at a time to a helper process and waits for each answer; without the fault in batches."""
import os
import subprocess
import sys

HELPER = """
import sys, time
for line in sys.stdin:
    numbers = line.split()
    time.sleep(0.002)
    print(*[int(n) ** 2 for n in numbers], flush=True)
"""


def ask(helper, numbers):
    helper.stdin.write(" ".join(map(str, numbers)) + "\n")
    helper.stdin.flush()
    return [int(word) for word in helper.stdout.readline().split()]


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
    size = 500 if os.environ.get("FIXED") else 1
    with subprocess.Popen([sys.executable, "-c", HELPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as helper:
        total = 0
        for first in range(0, count, size):
            total += sum(ask(helper, range(first, first + size)))
        helper.stdin.close()
    print(total)


main()
