#!/usr/bin/env python3
"""Writes the calibrations of a fleet of GPUs, with faults planted in some, for `roofline fleet`; to be run by hand.

usage: fleet_files.py FOLDER [--machines 10000] [--gpus 1] [--noise 0.002] [--shape gaussian|heavy|skewed]
                      [--faults 0.03,0.05,0.10] [--each 5] [--from MACHINE.json] [--seed 1]

The ceilings are those of a report of this repository (reports/reference/h200-ops), the first 40 that are roofs. The
planted machines are printed, one a line: host, device, ceiling, fault.
"""
import argparse
import copy
import json
import math
import pathlib
import random

ROOT = pathlib.Path(__file__).resolve().parents[2]


def noise(random_, shape, scale):
    if shape == "heavy":  # Student's t with 3 degrees of freedom, of that deviation
        chi = sum(random_.gauss(0, 1) ** 2 for _ in range(3))
        return scale / math.sqrt(3) * random_.gauss(0, 1) / math.sqrt(chi / 3)
    if shape == "skewed":  # neighbours make machines slower
        return random_.gauss(0, scale / 2) - random_.expovariate(1 / scale)
    return random_.gauss(0, scale)


def main():
    arguments = argparse.ArgumentParser(usage=__doc__)
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--machines", type=int, default=10000)
    arguments.add_argument("--gpus", type=int, default=1)
    arguments.add_argument("--noise", type=float, default=0.002)
    arguments.add_argument("--shape", choices=("gaussian", "heavy", "skewed"), default="gaussian")
    arguments.add_argument("--faults", default="0.03,0.05,0.10")
    arguments.add_argument("--each", type=int, default=5)
    arguments.add_argument("--from", dest="source", type=pathlib.Path,
                           default=ROOT / "reports/reference/h200-ops/report.json")
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()

    random_ = random.Random(given.seed)
    machine = json.loads(given.source.read_text())
    machine = machine.get("machine", machine)
    roofs = [c for c in machine["ceilings"] if c.get("role", "roof") == "roof" and c["audit"]["status"] == "pass"]
    machine["ceilings"] = roofs[:40]
    machine["device"]["attributes"] = [a for a in machine["device"]["attributes"] if a["name"] != "host name"]
    parts = text_around_values(machine)

    machines = given.machines * given.gpus
    planted = {}
    for fault in [float(f) for f in given.faults.split(",") if f]:
        for _ in range(given.each):
            planted[random_.randrange(machines)] = (random_.randrange(len(machine["ceilings"])), fault)
    given.folder.mkdir(parents=True, exist_ok=True)
    for number in range(machines):
        host, gpu = f"node{number // given.gpus:05}", number % given.gpus
        uuid = f"GPU-{random_.getrandbits(32):08x}-0000-0000-0000-{number:012x}"
        values = []
        for i, ceiling in enumerate(machine["ceilings"]):
            value = ceiling["value"] * math.exp(noise(random_, given.shape, given.noise))
            if number in planted and planted[number][0] == i:
                value *= 1 - planted[number][1]
                print(f"{host} GPU {gpu} ({uuid[4:12]})  {ceiling['name']} {ceiling['regime']}  -{100 * planted[number][1]:g} %")
            values.append(repr(value))
        fill = iter([str(gpu), uuid, host, *values])
        text = parts[0] + "".join(next(fill) + part for part in parts[1:])
        (given.folder / f"{host}-gpu{gpu}-{uuid[4:12]}.json").write_text(text)


def text_around_values(machine):
    """What stands before, between and after index, UUID, host and values: files are joined and not serialised."""
    machine = copy.deepcopy(machine)
    device = machine["device"]
    device["index"] = "@@number"
    device["attributes"] = [a for a in device["attributes"] if a["name"] != "UUID"]
    device["attributes"] += [{"name": "UUID", "value": "@@text"}, {"name": "host name", "value": "@@text"}]
    for ceiling in machine["ceilings"]:
        ceiling["value"] = "@@number"
    text = json.dumps(machine, indent=2)
    return text.replace('"@@number"', "@@").replace("@@text", "@@").split("@@")


if __name__ == "__main__":
    main()
