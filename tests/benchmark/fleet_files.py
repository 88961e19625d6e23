#!/usr/bin/env python3
"""Writes the calibrations of a fleet of GPUs, with faults planted in some, for `roofline fleet`; to be run by hand.

usage: fleet_files.py FOLDER [--machines 10000] [--gpus 1] [--nodes] [--noise 0.002] [--shape gaussian|heavy|skewed]
                      [--faults 0.03,0.05,0.10] [--each 5] [--from MACHINE.json] [--seed 1]

The ceilings are those of a report of this repository (reports/reference/h200-ops), the first 40 that are roofs. With
--nodes one file holds all GPUs of a host, with all that is in such a file: references, sweeps, what is left when all
work, and every link (those two as in tests/corpus/node-0.2.0.json). The planted machines are printed, one a line: host,
device, ceiling, fault.
"""
import argparse
import copy
import json
import math
import pathlib
import random
import re

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
    arguments.add_argument("--nodes", action="store_true")
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
    machine["device"]["attributes"] = [a for a in machine["device"]["attributes"]
                                       if a["name"] not in ("host name", "UUID")]
    judged = [i for i, c in enumerate(machine["ceilings"])
              if c.get("role", "roof") == "roof" and c["audit"]["status"] == "pass"]
    if not given.nodes:
        machine["ceilings"] = [machine["ceilings"][i] for i in judged[:40]]
        judged = list(range(len(machine["ceilings"])))
    parts = text_around_values(node_of(machine, given.gpus) if given.nodes else marked(machine), given.nodes)

    machines = given.machines * given.gpus
    planted = {}
    for fault in [float(f) for f in given.faults.split(",") if f]:
        for _ in range(given.each):
            planted[random_.randrange(machines)] = (random_.choice(judged), fault)
    given.folder.mkdir(parents=True, exist_ok=True)

    def factor():
        return math.exp(noise(random_, given.shape, given.noise))

    def gpu(host, number):
        """Index, UUID, host and values of a machine."""
        index = number % given.gpus
        uuid = f"GPU-{random_.getrandbits(32):08x}-0000-0000-0000-{number:012x}"
        values = []
        for i, ceiling in enumerate(machine["ceilings"]):
            value = ceiling["value"] * factor()
            if number in planted and planted[number][0] == i:
                value *= 1 - planted[number][1]
                print(f"{host} GPU {index} ({uuid[4:12]})  {ceiling['name']} {ceiling['regime']}  "
                      f"-{100 * planted[number][1]:g} %")
            values.append(repr(value))
        return [str(index), uuid, host, *values]

    for of_host in range(given.machines):
        host = f"node{of_host:05}"
        gpus = [gpu(host, of_host * given.gpus + i) for i in range(given.gpus)]
        if given.nodes:
            write(given.folder / f"{host}-node.json", parts, [host, *(value for gpu in gpus for value in gpu)], factor)
            continue
        for fill in gpus:
            write(given.folder / f"{host}-gpu{fill[0]}-{fill[1][4:12]}.json", parts, fill, factor)


def marked(machine):
    """With marks where a machine's own index, UUID, host and values belong."""
    machine = copy.deepcopy(machine)
    machine["device"]["index"] = "@@number"
    machine["device"]["attributes"] += [{"name": "UUID", "value": "@@text"}, {"name": "host name", "value": "@@text"}]
    for ceiling in machine["ceilings"]:
        ceiling["value"] = "@@number"
    return machine


def node_of(machine, gpus):
    """A node file of that many GPUs. Its links and what is left when all work have noise around what they are here."""
    node = json.loads((ROOT / "tests/corpus/node-0.2.0.json").read_text())
    node["measured_at"] = machine["measured_at"]
    node["host_name"] = "@@text"
    node["machines"] = [marked(machine) for _ in range(gpus)]

    def others(entries, **changes):
        entries = copy.deepcopy(entries)
        for entry in entries:
            entry.update(changes)
        return entries

    together = [entry for entry in node["together"] if entry["device"] == 0]
    links = node["links"][:1]
    node["together"] = [entry for i in range(gpus) for entry in others(together, device=i)]
    node["links"] = [link for i in range(gpus) for k in range(gpus) if i != k
                     for link in others(links, **{"from": i, "to": k})]
    for rate in [entry["together"] for entry in node["together"]] + [c for link in node["links"] for c in link["ceilings"]]:
        rate["value"] = f"@@around {rate['value']!r}"
    return node


def text_around_values(document, nodes):
    """The text, cut where values belong: files are joined and not serialised. A piece is text, or a value to vary."""
    text = json.dumps(document, separators=(",", ":")) if nodes else json.dumps(document, indent=2)
    text = re.sub('"@@(number|around [^"]*)"', r"@@\1@@", text).replace("@@text", "@@text@@")
    return text.split("@@")


def write(path, parts, fill, factor):
    fill = iter(fill)
    pieces = []
    for i, part in enumerate(parts):
        if i % 2 == 0:
            pieces.append(part)
        elif part.startswith("around "):
            pieces.append(repr(float(part[7:]) * factor()))
        else:
            pieces.append(next(fill))
    path.write_text("".join(pieces))

if __name__ == "__main__":
    main()
