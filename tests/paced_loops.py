#!/usr/bin/env python3
"""The loops that measure the clock among a compute probe's instructions, in machine code: beside the plain loop's own
arithmetic, in the same number, they have a chain of additions on one general register and nothing else that could slow
either. Loads, stores or spills would compete for the ports; a second chain would take half as long.

usage: paced_loops.py OBJDUMP OBJECT...
"""
import collections
import re
import subprocess
import sys
import unittest

PROBES = ("fma.simd", "dot.simd", "tile_chains.amx", "calibration/cpu/sve.cpp")
FUNCTION = re.compile(r"^[0-9a-f]+ <(?P<name>.*?\brun_(?:tile_)?chains<(?P<kernel>.*), (?P<additions>\d+)>\(.*)>:$")
LINE = re.compile(r"^\s*(?P<address>[0-9a-f]+):\s+(?P<code>.*)$")
JUMP = re.compile(r"^(?:j\w+|b\.?\w+|cbn?z\s+\w+,|tbn?z.*,)\s+(?P<target>[0-9a-f]+)\b")
ARITHMETIC = re.compile(r"^v?(fn?madd\d*p|mulp|addp|dpbf16ps|pdpbusd|pmaddwd|paddd|movdqa|movaps)|^(\{vex\} v|tdp|fmla|sdot|smlal)")
CHAIN = re.compile(r"^add\s+(?:(?P<step>%r\w+),(?P<sum>%r\w+)|(?P<arm>x\d+), (?P=arm), x\d+)\s*$")
MEMORY = re.compile(r"\(|\[")
CONTROL = 3  # of a turn: count, compare, jump; the plain loop may have moves of registers, too

Loop = collections.namedtuple("Loop", "arithmetic additions sums others")


def disassembly(objdump, path):
    return subprocess.run([objdump, "-dCw", "--no-show-raw-insn", path], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def functions(text):
    """(name, kernel, additions, [(address, instruction)]) of each chain of a disassembly."""
    current = None
    for line in text.splitlines():
        if line.endswith(">:"):
            if current:
                yield current
            match = FUNCTION.match(line)
            current = match and (match["name"], match["kernel"], int(match["additions"]), [])
        elif current and (match := LINE.match(line)):
            current[3].append((int(match["address"], 16), match["code"].split(" <")[0].strip()))
    if current:
        yield current


def measured_loop(code):
    """What the loop with the most arithmetic consists of."""
    best = None
    for address, instruction in code:
        jump = JUMP.match(instruction)
        if not jump or int(jump["target"], 16) > address:
            continue
        body = [one for at, one in code if int(jump["target"], 16) <= at <= address]
        chain = [match["sum"] or match["arm"] for one in body if (match := CHAIN.match(one))]
        rest = [one for one in body if not CHAIN.match(one) and not one.startswith(("nop", "data16", "cs nop"))]
        arithmetic = [one for one in rest if ARITHMETIC.match(one) and not MEMORY.search(one)]
        others = [one for one in rest if one not in arithmetic]
        # The counter may be advanced by a register, too: the chain is the register that is added to most often.
        sums = collections.Counter(chain).most_common()
        most = sums[0][1] if sums else 0
        others += ["counter"] * (len(chain) - most)
        loop = Loop(collections.Counter(one.split()[0] for one in arithmetic), most, len(sums), others)
        if best is None or sum(loop.arithmetic.values()) > sum(best.arithmetic.values()):
            best = loop
    return best


def faults_of(name, loop, plain, additions):
    if loop is None or not loop.arithmetic:
        return [f"{name}: no loop found"]
    faults = []
    per_turn = additions * (sum(loop.arithmetic.values()) if "run_tile_chains" in name else 1)
    if loop.arithmetic != plain.arithmetic:
        faults.append(f"{name}: {dict(loop.arithmetic)} instead of {dict(plain.arithmetic)}")
    if loop.additions != per_turn and not (additions == 0 and loop.additions <= 1):
        faults.append(f"{name}: {loop.additions} additions on one register instead of {per_turn}")
    if len(loop.others) > max(CONTROL, len(plain.others)) or any(MEMORY.search(one) for one in loop.others):
        faults.append(f"{name}: also {', '.join(loop.others)}")
    return faults


def faults_in(text):
    """(number of paced loops, what is wrong with them)"""
    kernels = [(*one[:3], measured_loop(one[3])) for one in functions(text)]
    plain = {kernel: loop for _, kernel, additions, loop in kernels if additions == 0}
    faults = []
    for name, kernel, additions, loop in kernels:
        if plain.get(kernel) is None:
            faults.append(f"{name}: no plain loop")
        else:
            faults += faults_of(name, loop, plain[kernel], additions)
    return sum(additions > 0 for _, _, additions, _ in kernels), faults


class Listings(unittest.TestCase):
    """What a compiler could do wrong is found."""
    STEPS = ["vfmadd132ps %zmm1,%zmm0,%zmm2", "vfmadd132ps %zmm1,%zmm0,%zmm3"]
    LOOP = ["add    $0x2,%rcx", "cmp    %rcx,%rdi", "jg     0"]

    def listing(self, additions, body):
        lines = [f"{i:4x}:\t{one}" for i, one in enumerate(body + self.LOOP)]
        return f"0000 <void run_chains<float, 2, 1, {additions}>(long, float*)>:\n" + "\n".join(lines) + "\n"

    def check(self, body, faults):
        plain = self.listing(0, self.STEPS)
        self.assertEqual(faults_in(plain)[1], [])
        paced, found = faults_in(plain + self.listing(2, body))
        self.assertEqual((paced, len(found)), (1, faults), found)

    def test_one_chain(self):
        self.check([*self.STEPS, "add    %rdx,%rax", "add    %rdx,%rax"], 0)

    def test_two_chains(self):
        self.check([*self.STEPS, "add    %rdx,%rax", "add    %rdx,%rbx"], 2)

    def test_a_spill(self):
        self.check([*self.STEPS, "add    %rdx,%rax", "vmovaps %zmm2,0x40(%rsp)", "add    %rdx,%rax"], 1)

    def test_less_arithmetic(self):
        self.check([self.STEPS[0], "add    %rdx,%rax", "add    %rdx,%rax"], 1)

    def test_a_missing_addition(self):
        self.check([*self.STEPS, "add    %rdx,%rax"], 1)


class Objects(unittest.TestCase):
    """Of this build."""
    maxDiff = None
    objdump, paths = None, []

    def test_paced_loops(self):
        paths = [path for path in self.paths if any(probe in path for probe in PROBES)]
        found = [faults_in(disassembly(self.objdump, path)) for path in paths]
        self.assertEqual([fault for _, faults in found for fault in faults], [])
        self.assertGreater(sum(paced for paced, _ in found), 0)


if __name__ == "__main__":
    Objects.objdump, Objects.paths = sys.argv[1], sys.argv[2:]
    unittest.main(argv=sys.argv[:1])
