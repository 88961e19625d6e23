#!/usr/bin/env python3
"""Leaves of an export of nsys what an import reads: kernels, copies, CUDA's calls, ranges, the GPU and its versions.
usage: trim.py FROM TO [STEPS]   with STEPS: of the first so many ranges named "step" and what was launched in them"""
import re
import sqlite3
import sys

KEPT = re.compile(r"CUPTI_ACTIVITY_KIND_(KERNEL|MEMCPY|MEMSET|SYNCHRONIZATION|RUNTIME|GRAPH_TRACE)|NVTX_EVENTS|TARGET_INFO_GPU|"
                  r"META_DATA_EXPORT|ENUM_CUDA_(MEMCPY_OPER|MEM_KIND)|ENUM_NSYS_EVENT_TYPE")


def main():
    source = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
    to = sqlite3.connect(sys.argv[2])
    tables = dict(source.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
    end = None
    if len(sys.argv) > 3:
        steps = source.execute("SELECT end FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId "
                               "WHERE coalesce(n.text, s.value) = 'step' AND end IS NOT NULL ORDER BY start").fetchall()
        end = steps[int(sys.argv[3])][0]
    used = set()
    for name, sql in tables.items():
        if not KEPT.fullmatch(name):
            continue
        to.execute(sql)
        columns = [row[1] for row in source.execute(f"PRAGMA table_info({name})")]
        timed = end is not None and "start" in columns
        rows = source.execute(f"SELECT * FROM {name}" + (f" WHERE start < {end}" if timed else "")).fetchall()
        to.executemany(f"INSERT INTO {name} VALUES ({','.join('?' * len(columns))})", rows)
        for at, column in enumerate(columns):
            if column.endswith("Id") or column.endswith("Name"):
                used.update(row[at] for row in rows if isinstance(row[at], int))
    to.execute(tables["StringIds"])
    names = [row for row in source.execute("SELECT * FROM StringIds") if row[0] in used and "/" not in row[1]]
    to.executemany("INSERT INTO StringIds VALUES (?, ?)", names)
    to.commit()
    to.execute("VACUUM")


main()
