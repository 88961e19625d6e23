#!/usr/bin/env python3
"""Holds the peaks of GPU memory in a profile against those that PyTorch's allocator reports of the same run.

    tests/benchmark/memory_against_torch.py ROOFLINE [--machine FILE] [--seconds 4]

Prints a Markdown table. The exit status is 0 if all peaks agree within 0.1 %.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

PROGRAMS = ("training", "varying", "growing")


def allocations_of(name, seconds):
    import torch

    torch.manual_seed(0)
    model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(8)]).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    kept, begin, number = [], time.perf_counter(), 0
    while time.perf_counter() - begin < seconds or number < 50:
        rows = 2048 + 512 * (number % 7) if name == "varying" else 4096
        loss = model(torch.randn(rows, 2048, device="cuda")).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if name == "growing" and number % 4 == 0 and len(kept) < 400:
            kept.append(torch.empty(1 << 20, device="cuda"))
        number += 1
        torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    print(json.dumps({"allocated": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.max_memory_reserved(),
                      "used_on_device": total - free}))


def peaks_of(options, name, folder):
    report = folder / f"{name}.json"
    machine = ["--machine", options.machine] if options.machine else []
    command = [options.roofline, "profile", *machine, "-o", str(report), "--", sys.executable, __file__, options.roofline, "--run",
               name, "--seconds", str(options.seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = [line for line in done.stdout.splitlines() if line.startswith('{"allocated"')]
    if done.returncode != 0 or not said:
        sys.exit(f"{name}: exit code {done.returncode}\n{done.stderr[-1000:]}")
    gpu = json.loads(report.read_text())["profile"]["memory"]["devices"][0]
    return json.loads(said[-1]), gpu


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roofline")
    parser.add_argument("--machine")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--run", choices=PROGRAMS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        allocations_of(options.run, options.seconds)
        return
    print("| program | figure | PyTorch | profile | difference |\n|---|---|--:|--:|--:|")
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in PROGRAMS:
            torch, ours = peaks_of(options, name, pathlib.Path(folder))
            for figure, key in (("allocated", "peak_allocated"), ("reserved", "peak_reserved")):
                difference = ours[key] / torch[figure] - 1
                worst = max(worst, abs(difference))
                print(f"| {name} | {figure} | {torch[figure]:,} | {ours[key]:,.0f} | {100 * difference:+.3f} % |", flush=True)
            outside = ours.get("outside", 0)
            print(f"| {name} | on the device at the end | {torch['used_on_device']:,} | {ours['peak_reserved'] + outside:,.0f} (reserved and "
                  "other allocations; the context is in no record) | |", flush=True)
    sys.exit(0 if worst <= 1e-3 else 1)


if __name__ == "__main__":
    main()
