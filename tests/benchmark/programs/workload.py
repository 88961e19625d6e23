"""What the programs of this benchmark share: how long they work, and what they print at the end."""
import os
import time

SECONDS = float(os.environ.get("SECONDS_OF_WORK", "6"))
FIXED = os.environ.get("FIXED") == "1"  # run the program without its fault


def steps(wait):
    """Yields 0, 1, 2, … for SECONDS_OF_WORK. Then calls `wait`, which returns when the GPU is idle, and prints the
    number of steps and the seconds that they took, for run_programs.py."""
    begin = time.perf_counter()
    number = 0
    while time.perf_counter() - begin < SECONDS:
        yield number
        number += 1
    wait()
    print(f"steps {number} in {time.perf_counter() - begin:.3f} s", flush=True)
