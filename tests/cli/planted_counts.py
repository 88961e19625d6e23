#!/usr/bin/env python3
"""In the place of roofline_count: writes planted counts for the program's loops, whose machine code it looks up by objdump.
The environment's PLANTED_END is how the file ends; PLANTED_COUNTS maps functions to counts."""
import json
import os
import re
import subprocess
import sys


def instructions(program):
    """(function, address, mnemonic, operands) of each instruction."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program], capture_output=True, text=True, check=True)
    function = ""
    for line in text.stdout.splitlines():
        if head := re.match(r"[0-9a-f]+ <([^>]+)>:", line):
            function = head[1]
        elif found := re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)", line):
            yield function, int(found[1], 16), found[2], found[3]


def main():
    options, rest = {}, sys.argv[1:]
    while rest and rest[0].startswith("-"):
        name, _, value = rest.pop(0).partition("=")
        options[name] = value
    program = os.path.realpath(rest[0])
    planted = json.loads(os.environ["PLANTED_COUNTS"])
    with open(options["--counts-file"].replace("%p", str(os.getpid())), "w", encoding="ascii") as out:
        print("roofline-counts\t1\npid\t1\t0\nisa\tavx2\ncache\t1\t32768\t8\t64\tprivate", file=out)
        print(f"module\t0\t0x0\t{program}", file=out)
        for function, address, mnemonic, operands in instructions(program):
            target = re.match(r"([0-9a-f]+) <", operands)
            if function in planted and mnemonic.startswith("j") and target and int(target[1], 16) <= address:
                print(f"i\t0\t{int(target[1], 16):#x}\t1000\t" + "\t".join(planted[function]), file=out)
                print(f"e\t0\t{address:#x}\t{int(target[1], 16):#x}\t999", file=out)
        print(f"end\t{os.environ.get('PLANTED_END', 'complete')}", file=out)
    assert int(options["--stop-after"]) > 0 and os.environ["OMP_WAIT_POLICY"] == "passive"
    print("not to be seen")
    return subprocess.call(rest)


if __name__ == "__main__":
    sys.exit(main())
