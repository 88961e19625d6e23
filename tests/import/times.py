#!/usr/bin/env python3
"""Times of the same kernels by several tools, from runs of program.py --pause: reports of imports and of a profile.
usage: times.py NAME=REPORT.json ...   prints a table of what takes 100 µs or more, each against the first"""
import json
import sys


def kernels(path):
    """Launches and seconds of each kernel and grid."""
    found = {}
    for row in json.load(open(path))["results"]:
        of = row["profiled"]
        entry = found.setdefault((of["full_name"], tuple(of["grid"])), [0, 0.0])
        entry[0] += of["launches"]
        entry[1] += of["total_s"]
    return {key: total / launches for key, (launches, total) in found.items()}


def main():
    names, paths = zip(*(argument.split("=", 1) for argument in sys.argv[1:]))
    tools = [kernels(path) for path in paths]
    common = [key for key in tools[0] if all(key in tool for tool in tools)]
    print("| kernel | " + " | ".join(f"{name}, µs" for name in names) + " | " +
          " | ".join(f"{name}/{names[0]}" for name in names[1:]) + " |")
    print("|---|" + "--:|" * (2 * len(names) - 1))
    for key in sorted(common, key=lambda key: -tools[0][key]):
        times = [tool[key] for tool in tools]
        if times[0] >= 100e-6:
            cells = [f"{time * 1e6:.1f}" for time in times] + [f"{time / times[0]:.3f}" for time in times[1:]]
            print(f"| {key[0].split('<')[0].split('::')[-1][:48]} {'x'.join(map(str, key[1]))} | " + " | ".join(cells) + " |")


main()
