"""Reports in notebooks: the chart, the largest savings and rows. Names come from files, so all of them are escaped."""

import base64
import html
from typing import TYPE_CHECKING, List, Optional

from ._binary import RooflineError

if TYPE_CHECKING:
    from .report import Report, Row

MOST_ROWS = 10
MOST_SAVINGS = 5


def duration(seconds: Optional[float]) -> str:
    """"1.9 µs", "24.1 ms"; "–" for None."""
    if seconds is None:
        return "–"
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if abs(seconds) >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def percent(fraction: Optional[float]) -> str:
    return "–" if fraction is None else f"{100 * fraction:.1f} %"


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most // 2] + "…" + text[-(most - most // 2 - 1) :]


def _cell(text: str, tag: str = "td") -> str:
    wrap = "" if len(text) > 20 else ";white-space:nowrap"
    return f'<{tag} style="text-align:left;vertical-align:top{wrap}">{html.escape(text)}</{tag}>'


def _table(head: List[str], rows: List[List[str]]) -> str:
    """An HTML table without empty columns."""
    used = [at for at in range(len(head)) if any(row[at] for row in rows)]
    if not used:
        return ""
    lines = ["<tr>" + "".join(_cell(head[at], "th") for at in used) + "</tr>"]
    lines += ["<tr>" + "".join(_cell(row[at]) for at in used) + "</tr>" for row in rows]
    return "<table>" + "".join(lines) + "</table>"


def _chart(report: "Report") -> str:
    """The page's chart as an image, without scripts; a sentence if it cannot be drawn."""
    if not report.rows and not report.machine.ceilings:
        return ""
    try:
        svg = report.render("svg")
    except (RooflineError, OSError) as error:
        return f"<p>No chart: {html.escape(str(error))}</p>"
    source = "data:image/svg+xml;base64," + base64.b64encode(svg).decode()
    return f'<img src="{source}" alt="Roofline of {html.escape(report.name)}" style="max-width:100%">'


def _title(report: "Report") -> str:
    program = report.program
    name = _shortened(" ".join(program.command), 90) if program else report.name
    text = f"{name} on {report.machine.name}"
    if program and program.steps:
        text += f": {duration(program.steps.median_s)} per step"
    elif program:
        text += f": {duration(program.wall_s)} of wall time"
    return f"<p><b>{html.escape(text)}</b></p>"


def _by_saving(row: "Row") -> float:
    return -(row.saving_s or 0.0)


def html_of_report(report: "Report") -> str:
    parts = [_title(report)]
    parts += [f"<p>{html.escape(note)}</p>" for note in report.notes[:3]]
    parts.append(_chart(report))
    savings = [[duration(s.seconds), _shortened(s.what, 120), _shortened(s.action, 400), s.line or ""] for s in report.savings[:MOST_SAVINGS]]
    parts.append(_table(["saving", "where", "action", "line"], savings))
    rows = [
        [_shortened(row.label, 90), duration(row.time_s), percent(row.fraction_of_roof), row.limiting_ceiling or "",
         duration(row.saving_s), _shortened(row.verdict or row.reason, 200)]
        for row in sorted(report.rows, key=_by_saving)[:MOST_ROWS]
    ]
    parts.append(_table(["kernel", "time", "of roof", "limited by", "saving", "verdict"], rows))
    if not report.rows and report.program:
        lines = [
            [_shortened(f"{line.file}:{line.line}" if line.line else line.file, 90), _shortened(line.function, 60),
             duration(line.seconds.get("running", 0.0)), duration(sum(line.seconds.values()))]
            for line in report.program.host_lines[:MOST_ROWS]
        ]
        parts.append(_table(["line", "function", "on a CPU", "with waits"], lines))
    return "<div>" + "".join(parts) + "</div>"
