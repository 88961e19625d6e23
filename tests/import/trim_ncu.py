#!/usr/bin/env python3
"""Leaves of a report of ncu what an import reads: its launches with the metrics that are read, the code of sampled kernels, and lines
of its source files.
usage: trim_ncu.py FROM TO FIRST-LAST [OLD=NEW…]   FIRST-LAST: lines of source files; OLD=NEW: folders of equal length"""
import re
import struct
import sys

METRICS = re.compile(r"gpu__time_duration\.sum|dram__bytes_(read|write)\.sum|inst_executed|launch__(grid|block)_size|"
                     r"launch__registers_per_thread|launch__shared_mem_per_block_(static|dynamic)|"
                     r"smsp__pcsamp_(sample_count|interval|interval_cycles|dropped_bytes)|"
                     r"smsp__pcsamp_warps_issue_stalled_\w+(?<!_not_issued)|"
                     r"smsp__pcsamp_warps_issue_stalled_(mio_throttle|short_scoreboard)_not_issued|"
                     r"device__attribute_(display_name|device_index|compute_capability_m\w+|multiprocessor_count)")


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """Each with its number, its value and its bytes as they are."""
    at = 0
    while at < len(data):
        begin = at
        key, at = read_varint(data, at)
        if key & 7 == 0:
            value, at = read_varint(data, at)
        elif key & 7 == 2:
            size, at = read_varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = 8 if key & 7 == 1 else 4
            value, at = data[at:at + size], at + size
        yield key >> 3, value, data[begin:at]


def of(number, content):
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def only(data, number):
    return [value for found, value, _ in fields(data) if found == number]


def trimmed_code(code, symbols):
    """An ELF image with the sections that lines and instructions of these functions are in; the others become empty."""
    header = bytearray(code[:64])
    start, = struct.unpack_from("<Q", code, 40)
    size, count, names = struct.unpack_from("<HHH", code, 58)
    sections = [list(struct.unpack_from("<IIQQQQIIQQ", code, start + size * i)) for i in range(count)]
    text = lambda section: code[section[4]:section[4] + section[5]]
    name_of = lambda section: text(sections[names])[section[0]:].split(b"\0")[0].decode()
    wanted = {".symtab", ".debug_line", ".debug_str", ".debug_line_str", ".rela.debug_line", ".rel.debug_line"}
    wanted |= {".text." + symbol for symbol in symbols}
    table = next(section for section in sections if name_of(section) == ".symtab")
    strings = table[6]
    body, new_names, out = b"", b"\0", []
    for number, section in enumerate(sections):
        name = name_of(section)
        if name not in wanted and number not in (names, strings):
            out.append([0] * 10)
            continue
        content = text(section)
        if number == strings:
            content = b"\0" + b"\0".join(symbol.encode() for symbol in symbols) + b"\0"
        if name == ".symtab":
            entries = bytearray(content)
            at = {symbol.encode(): 1 + sum(len(s) + 1 for s in symbols[:i]) for i, symbol in enumerate(symbols)}
            for entry in range(0, len(entries), 24):
                old, = struct.unpack_from("<I", entries, entry)
                named = text(sections[strings])[old:].split(b"\0")[0]
                struct.pack_into("<I", entries, entry, at.get(named, 0))
            content = bytes(entries)
        kept = [len(new_names), *section[1:4], 64 + len(body), len(content), *section[6:]]
        new_names += name.encode() + b"\0"
        if number != names:
            body += content + b"\0" * (-len(content) % 16)
        out.append(kept)
    out[names][4:6] = [64 + len(body), len(new_names)]
    body += new_names + b"\0" * (-len(new_names) % 16)
    struct.pack_into("<QQ", header, 32, 0, 64 + len(body))  # no program headers
    struct.pack_into("<HH", header, 54, 0, 0)
    return bytes(header) + body + b"".join(struct.pack("<IIQQQQIIQQ", *section) for section in out)


def trimmed_source(source, lines, renamed):
    out = b""
    symbols = [only(entry, 1)[0].decode() for table in only(source, 9) for entry in only(table, 1)]
    for number, value, whole in fields(source):
        if number == 4:
            out += of(4, renamed(trimmed_code(value, symbols)))
        elif number == 8:
            files = b""
            for entry in only(value, 1):
                path, text = only(entry, 1)[0], only(entry, 2)[0].split(b"\n")
                if b"/cuda/" in path:
                    continue
                kept = b"\n".join(line if lines[0] <= at <= lines[1] else b"" for at, line in enumerate(text, 1))
                files += of(1, of(1, renamed(path)) + of(2, kept.rstrip(b"\n") + b"\n"))
            out += of(8, files)
        else:
            out += whole
    return out


def main():
    data = open(sys.argv[1], "rb").read()
    lines = [int(part) for part in sys.argv[3].split("-")]
    renames = [argument.encode().split(b"=") for argument in sys.argv[4:]]

    def renamed(content):
        for old, new in renames:
            assert len(old) == len(new)
            content = content.replace(old, new)
        return content

    at, out, names, kept = 4, data[:4], [], {}

    def message():
        nonlocal at
        size, = struct.unpack_from("<I", data, at)
        at += 4 + size
        return data[at - size:at]

    def framed(content):
        return struct.pack("<I", len(content)) + content

    out += framed(message())
    while at < len(data):
        header = message()
        number_of = {number: value for number, value, _ in fields(header) if isinstance(value, int)}
        first = len(kept)
        names += [text.decode() for table in only(header, 4) for text in only(table, 1)]
        payload = b"".join(framed(trimmed_source(message(), lines, renamed)) for _ in range(number_of.get(1, 0)))
        for _ in range(number_of.get(2, 0)):
            result = b""
            for number, value, whole in fields(message()):
                if number == 13:
                    name = only(value, 1)[0]
                    if not METRICS.fullmatch(names[name]):
                        continue
                    kept.setdefault(name, len(kept))
                    whole = of(13, of(1, kept[name]) + b"".join(part for n, _, part in fields(value) if n != 1))
                elif number not in (1, 5, 6, 7, 10, 11, 15, 22, 23):
                    continue
                result += whole
            payload += framed(result)
        version = b"".join(of(8, entry) for session in only(header, 3) for entry in only(session, 8))
        table = b"".join(of(1, names[name].encode()) for name in list(kept)[first:])
        if payload or version:
            out += framed(of(1, number_of.get(1, 0)) + of(2, number_of.get(2, 0)) + of(3, version) + of(4, table) +
                          of(5, len(payload))) + payload
    open(sys.argv[2], "wb").write(out)


main()
