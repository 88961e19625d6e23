#!/usr/bin/env python3
"""What the build promises of its binaries (SECURITY.md), read back out of them: an ELF reader of its own, no tools.

usage: hardening_test.py --binary FILE --library FILE… --archive FILE… [--sanitized]
"""
import argparse
import struct
import sys
import unittest

PT_LOAD, PT_DYNAMIC, PT_GNU_STACK, PT_GNU_RELRO = 1, 2, 0x6474E551, 0x6474E552
DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_RPATH, DT_BIND_NOW, DT_RUNPATH = 5, 6, 10, 15, 24, 29
DT_FLAGS, DT_FLAGS_1 = 30, 0x6FFFFFFB
DF_BIND_NOW, DF_1_NOW, DF_1_PIE = 8, 1, 0x08000000
ET_DYN, PF_X, PF_W = 3, 1, 2


class Elf:
    """A 64-bit little-endian executable or library."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        assert self.bytes[:6] == b"\x7fELF\x02\x01", path
        self.type, = struct.unpack_from("<H", self.bytes, 16)
        table, = struct.unpack_from("<Q", self.bytes, 32)
        size, count = struct.unpack_from("<HH", self.bytes, 54)
        self.segments = []
        for at in range(table, table + size * count, size):
            kind, flags, offset, address, _, in_file, _, _ = struct.unpack_from("<IIQQQQQQ", self.bytes, at)
            self.segments.append((kind, flags, offset, address, in_file))
        self.dynamic = {}
        for kind, _, offset, _, in_file in self.segments:
            if kind == PT_DYNAMIC:
                for at in range(offset, offset + in_file, 16):
                    tag, value = struct.unpack_from("<QQ", self.bytes, at)
                    self.dynamic.setdefault(tag, value)

    def of_kind(self, wanted):
        return [segment for segment in self.segments if segment[0] == wanted]

    def imports(self):
        """Every name in the table of dynamic strings."""
        address = self.dynamic[DT_STRTAB]
        for _, _, offset, begin, in_file in self.of_kind(PT_LOAD):
            if begin <= address < begin + in_file:
                text = self.bytes[offset + address - begin:][:self.dynamic[DT_STRSZ]]
                return {name.decode() for name in text.split(b"\0")}
        return set()


class Hardening(unittest.TestCase):
    def test_the_binary_is_position_independent(self):
        self.assertEqual(Elf(BINARY).type, ET_DYN)
        self.assertTrue(Elf(BINARY).dynamic.get(DT_FLAGS_1, 0) & DF_1_PIE)

    def test_relocations_are_read_only_and_bound_at_the_start(self):
        for path in [BINARY, *LIBRARIES]:
            with self.subTest(path):
                elf = Elf(path)
                self.assertEqual(len(elf.of_kind(PT_GNU_RELRO)), 1)
                now = DT_BIND_NOW in elf.dynamic or elf.dynamic.get(DT_FLAGS, 0) & DF_BIND_NOW \
                    or elf.dynamic.get(DT_FLAGS_1, 0) & DF_1_NOW
                self.assertTrue(now)

    def test_nothing_is_both_writable_and_executable(self):
        for path in [BINARY, *LIBRARIES]:
            with self.subTest(path):
                elf = Elf(path)
                self.assertEqual([flags & PF_X for _, flags, *_ in elf.of_kind(PT_GNU_STACK)], [0])
                for _, flags, *_ in elf.of_kind(PT_LOAD):
                    self.assertNotEqual(flags & (PF_X | PF_W), PF_X | PF_W)

    def test_no_folder_to_search_is_built_in(self):
        for path in [BINARY, *LIBRARIES]:
            with self.subTest(path):
                self.assertFalse({DT_RPATH, DT_RUNPATH} & Elf(path).dynamic.keys())

    def test_stacks_are_guarded_and_sizes_are_checked(self):
        if SANITIZED:
            self.skipTest("a sanitizer has checks of its own")
        for path in [BINARY, *LIBRARIES]:
            with self.subTest(path):
                self.assertIn("__stack_chk_fail", Elf(path).imports())
        checked = {name for name in Elf(BINARY).imports() if name.endswith("_chk")}
        self.assertTrue(checked - {"__cxa_chk"})

    def test_every_layer_is_built_so(self):
        """The binary's imports could be those of somebody else's archive."""
        if SANITIZED:
            self.skipTest("a sanitizer has checks of its own")
        self.assertTrue(ARCHIVES)
        for path in ARCHIVES:
            with self.subTest(path), open(path, "rb") as file:
                members = file.read()
                self.assertIn(b"\0__stack_chk_fail\0", members)
                self.assertIn(b"__glibcxx_assert_fail", members)


parser = argparse.ArgumentParser()
parser.add_argument("--binary", required=True)
parser.add_argument("--library", nargs="*", default=[])
parser.add_argument("--archive", nargs="*", default=[])
parser.add_argument("--sanitized", action="store_true")
arguments = parser.parse_args()
BINARY, LIBRARIES, ARCHIVES, SANITIZED = (arguments.binary, arguments.library, arguments.archive, arguments.sanitized)
unittest.main(argv=sys.argv[:1])
