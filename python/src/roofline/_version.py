"""The version, as in CMakeLists.txt (tests/python/package_test.py compares them)."""

VERSION = "0.2.0"
