"""Whether a profile names the fault that a program of this benchmark has, or one that it does not have."""
import ast
import json
import pathlib
import re
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
# Headroom of kernels, and idle time that is said to be unexplained: a healthy program can have them.
NO_FAULT = frozenset({"kernel", "fusion", "between_kernels", "unknown_idle"})
# Findings of these causes save no time: any of them counts.
ABOUT_MEMORY = frozenset({"memory_growth", "fragmentation", "out_of_memory", "host_memory_growth"})
MATERIAL = 0.05  # of the steps' time: a smaller finding in a healthy program is not counted
ROUNDING = 1.01  # of a part of the time bar: a saving may exceed it by what rounding adds

RIGHT, IN_PART, MISSED, CLEAN, INVENTED, DID_NOT_RUN = "right", "in part", "missed", "clean", "invented", "did not run"
GOOD = (RIGHT, CLEAN)


@dataclass(frozen=True)
class Program:
    path: pathlib.Path
    group: str  # faults, more, healthy, foreign, ranks, ranks_healthy
    causes: tuple = ()  # that name the fault, the best one first; of a healthy program: that may be named
    actions: tuple = ()  # an action with one of these causes has one of these words
    least_seconds: float = 0  # of work in which the fault shows
    fails: bool = False  # with its fault, the program ends with an error
    has_line: bool = True  # a line of the program causes it

    @property
    def name(self):
        return self.path.name

    @property
    def faulty(self):
        return self.group in ("faults", "more", "ranks")

    @property
    def healthy(self):
        return self.group in ("healthy", "ranks_healthy")

    @property
    def ranks(self):
        """How many torchrun starts; 0: it is no job."""
        return 2 if self.group.startswith("ranks") else 0


@dataclass(frozen=True)
class Score:
    verdict: str
    reasons: tuple = ()  # why it is not right


def read_programs():
    groups = json.loads((HERE / "expectations.json").read_text())
    folders = {group: HERE / {"more": "faults", "ranks_healthy": "ranks"}.get(group, group) for group in groups}
    return [Program(folders[group] / name, group, tuple(entry.get("causes", ())), tuple(entry.get("actions", ())),
                    entry.get("least_seconds", 0), entry.get("fails", False), entry.get("line", True))
            for group, entries in groups.items() for name, entry in entries.items()]


def functions(path):
    """(name, first line, last line) of every function; of CUDA C++ those that begin and end in the first column."""
    text = path.read_text()
    if path.suffix == ".py":
        return [(node.name, node.lineno, node.end_lineno) for node in ast.walk(ast.parse(text))
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    found, begin = [], None
    for number, line in enumerate(text.splitlines(), 1):
        head = re.match(r"\w.*?(\w+)\(.*\{$", line)
        if head:
            begin = (head.group(1), number)
        elif line == "}" and begin:
            found.append((*begin, number))
            begin = None
    return found


def fault_lines(path):
    return {number for number, line in enumerate(path.read_text().splitlines(), 1)
            if re.search(r"(#|//) FAULT$", line)}


def accepted_lines(path):
    """The lines marked FAULT, and those of the innermost functions around them. Of main(), which holds the whole
    program, only the marked lines themselves."""
    lines = fault_lines(path)
    accepted = set(lines)
    for line in lines:
        around = [entry for entry in functions(path) if entry[1] <= line <= entry[2]]
        if not around:
            continue
        name, first, last = max(around, key=lambda entry: entry[1])
        if name != "main":
            accepted.update(range(first, last + 1))
    return accepted


def is_accepted_line(program, line):
    """`line`: "file:number function", as in a finding."""
    place = re.match(r"(.+):(\d+)(\s|$)", line or "")
    return (place is not None and pathlib.PurePath(place.group(1)).name == program.name and
            int(place.group(2)) in accepted_lines(program.path))


def steps_time(profile):
    """Seconds that the savings are parts of: the steady steps, or the recording where nothing repeats."""
    return (profile.get("steps") or {}).get("total_s") or profile.get("wall_s", 0)


def limit_of(profile, saving):
    """Seconds of the part of the time bar that a saving is taken from."""
    if saving.get("one_off"):
        return profile.get("wall_s", 0)
    devices = (profile.get("steps") or {}).get("devices") or profile.get("devices") or []
    if saving.get("kind") == "idle":
        parts = [value for device in devices for name, value in device.items() if name.startswith("idle_")]
    elif saving.get("kind") == "copies":
        parts = [device.get("copies_s", 0) for device in devices]
    else:
        parts = [max(device.get("kernels_s", 0), device.get("kernel_s", 0)) for device in devices]
    return sum(parts)


def is_accepted_action(program, saving):
    action = saving.get("action", "").lower()
    return any(word.lower() in action for word in program.actions)


def faults_of_first(program, profile, first):
    """What a first finding lacks to be right."""
    reasons = []
    if first.get("cause") not in program.causes:
        reasons.append("cause")
    if program.has_line and not is_accepted_line(program, first.get("line")):
        reasons.append("line")
    if not is_accepted_action(program, first):
        reasons.append("action")
    if first.get("seconds", 0) > limit_of(profile, first) * ROUNDING:
        reasons.append("saving above the time that it is taken from")
    return tuple(reasons)


def score_fault(program, profile):
    savings = profile.get("wins", [])
    if not savings:
        return Score(MISSED, ("no finding",))
    reasons = faults_of_first(program, profile, savings[0])
    if not reasons:
        return Score(RIGHT)
    named = any(saving.get("cause") in program.causes for saving in savings)
    if named or "line" not in reasons:
        return Score(IN_PART, reasons)
    return Score(MISSED, reasons)


def is_accepted_of_healthy(program, saving):
    cause = saving.get("cause")
    return cause in NO_FAULT or (cause in program.causes and is_accepted_action(program, saving))


def is_material(saving, threshold):
    if saving.get("cause") in ABOUT_MEMORY:
        return True
    return not saving.get("one_off") and saving.get("seconds", 0) > threshold


def score_healthy(program, profile):
    threshold = MATERIAL * steps_time(profile)
    invented = tuple(saving.get("cause", "") for saving in profile.get("wins", [])
                     if is_material(saving, threshold) and not is_accepted_of_healthy(program, saving))
    return Score(INVENTED, invented) if invented else Score(CLEAN)


def score(program, profile):
    """`profile`: the member of that name of a report. None for a program without expectation."""
    if program.faulty:
        return score_fault(program, profile)
    return score_healthy(program, profile) if program.healthy else None


def passed(scores):
    """Of (program, score): at most two faults are not right, nothing is invented, and every healthy program ran."""
    wrong = sum(program.faulty and score.verdict not in GOOD for program, score in scores)
    return wrong <= 2 and all(score.verdict in GOOD for program, score in scores if program.healthy)
