"""The results of run_programs.py, and their tables in Markdown."""
import statistics
from dataclasses import dataclass, field

import scoring

CLAIMED_OF_MEASURED = (0.5, 1.2)  # the range in which a claimed saving agrees with the measured one


@dataclass
class Result:
    program: scoring.Program
    profile: dict = None  # None: it did not run
    score: scoring.Score = None  # None for programs without expectation
    message: str = ""  # why it did not run
    gpu: str = None  # value of CUDA_VISIBLE_DEVICES; None: leave it alone
    plain: list = field(default_factory=list)  # steps a second without the profiler, one per turn
    fixed: list = field(default_factory=list)  # the same, without the fault
    profiled: list = field(default_factory=list)


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def row(cells):
    return "| " + " | ".join(map(cell, cells)) + " |"


def share(saving, profile):
    total = scoring.steps_time(profile)
    return f"{saving.get('seconds', 0) / total:.0%}" if total else "?"


def table_of_scores(results):
    yield row(["program", "wanted", "first finding", "line", "saving", "score", "reason"])
    yield row(["---"] * 7)
    for result in results:
        program, savings = result.program, (result.profile or {}).get("wins", [])
        first = savings[0] if savings else {}
        yield row([program.name, program.causes[0] if program.causes else "nothing", first.get("cause", ""),
                   first.get("line", ""), share(first, result.profile) if first else "", result.score.verdict,
                   ", ".join(result.score.reasons)])


def table_without_scores(results):
    yield row(["program", "first finding", "cause", "line", "saving", "action"])
    yield row(["---"] * 6)
    for result in results:
        if result.profile is None:
            yield row([result.program.name, result.message, "", "", "", ""])
            continue
        savings = result.profile.get("wins", [])
        first = savings[0] if savings else {}
        yield row([result.program.name, first.get("what", "none"), first.get("cause", ""), first.get("line", ""),
                   share(first, result.profile) if first else "", first.get("action", "")])


def table_of_overhead(results):
    yield row(["program", "steps/s without", "steps/s with", "slow-down"])
    yield row(["---"] * 4)
    for result in results:
        if result.profile is None or None in result.plain + result.profiled:
            continue
        plain, profiled = statistics.median(result.plain), statistics.median(result.profiled)
        yield row([result.program.name, f"{plain:.1f}", f"{profiled:.1f}", f"{plain / profiled - 1:+.1%}"])


def measured_saving(result):
    """Part of the time of the faulty program that the fixed one saves; None if not both ran."""
    if not result.plain or not result.fixed or None in result.plain + result.fixed:
        return None
    return 1 - statistics.median(result.plain) / statistics.median(result.fixed)


def claimed_saving(result):
    """Part of the steps' time that the first finding with an accepted cause claims; None if there is none."""
    profile = result.profile or {}
    total = scoring.steps_time(profile)
    first = next((saving for saving in profile.get("wins", []) if saving.get("cause") in result.program.causes), None)
    return first.get("seconds", 0) / total if first and total else None


def table_of_fixes(results):
    yield row(["program", "steps/s", "steps/s fixed", "measured saving", "claimed saving", "claimed / measured", ""])
    yield row(["---"] * 7)
    for result in results:
        measured, claimed = measured_saving(result), claimed_saving(result)
        if measured is None:
            continue
        # A fault that costs memory, for instance, has no time to compare with.
        ratio = claimed / measured if claimed is not None and measured > scoring.MATERIAL else None
        low, high = CLAIMED_OF_MEASURED
        yield row([result.program.name, f"{statistics.median(result.plain):.2f}",
                   f"{statistics.median(result.fixed):.2f}", f"{measured:.0%}",
                   "none" if claimed is None else f"{claimed:.0%}", "" if ratio is None else f"{ratio:.2f}",
                   "" if ratio is None else "as measured" if low <= ratio <= high else "differs"])


def table_of_rates(results, fixed=False):
    yield row(["program", "steps/s", *(["steps/s fixed", "measured saving"] if fixed else [])])
    yield row(["---"] * (4 if fixed else 2))
    for result in results:
        rates = [statistics.median(rates) if rates and None not in rates else None
                 for rates in (result.plain, *([result.fixed] if fixed else []))]
        cells = [result.message or "ran" if rate is None else f"{rate:.2f}" for rate in rates]
        saving = measured_saving(result)
        if fixed:
            cells.append("" if saving is None else f"{saving:.0%}")
        yield row([result.program.name, *cells])


def totals(results):
    faulty = [result for result in results if result.program.faulty]
    healthy = [result for result in results if result.program.healthy]
    if faulty:
        counts = [f"{sum(result.score.verdict == verdict for result in faulty)} {verdict}"
                  for verdict in (scoring.RIGHT, scoring.IN_PART, scoring.MISSED, scoring.DID_NOT_RUN)]
        yield f"Of {len(faulty)} faults: {', '.join(counts)}."
    if healthy:
        counts = [f"{sum(result.score.verdict == verdict for result in healthy)} {verdict}"
                  for verdict in (scoring.CLEAN, scoring.INVENTED, scoring.DID_NOT_RUN)]
        yield f"Of {len(healthy)} healthy programs: {', '.join(counts)}."


def print_results(results, options):
    scored = [result for result in results if result.program.group != "foreign"]
    foreign = [result for result in results if result.program.group == "foreign"]
    sections = []
    if scored:
        sections += [table_of_scores(scored), totals(scored)]
    if foreign:
        sections.append(table_without_scores(foreign))
    if options.fixed:
        sections.append(table_of_fixes(results))
    if options.overhead:
        sections.append(table_of_overhead(results))
    print("\n\n".join("\n".join(section) for section in sections))
