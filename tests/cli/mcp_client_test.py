#!/usr/bin/env python3
"""The server for coding agents, spoken to by the protocol's official client (its inspector). Skipped where that is not
installed: npm install -g @modelcontextprotocol/inspector, or $ROOFLINE_MCP_INSPECTOR names its mcp-inspector.

usage: mcp_client_test.py PATH_OF_ROOFLINE
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOFLINE = os.path.abspath(sys.argv[1])
ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
INSPECTOR = os.environ.get("ROOFLINE_MCP_INSPECTOR") or shutil.which("mcp-inspector")


def inspect(*arguments):
    done = subprocess.run([INSPECTOR, "--cli", ROOFLINE, "mcp", *map(str, arguments)], cwd=ROOT / "reports", text=True,
                          capture_output=True, timeout=300, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SystemExit(f"mcp-inspector {arguments}: exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return json.loads(done.stdout)


def main():
    if not INSPECTOR:
        print("mcp_client: skipped: mcp-inspector is not installed (npm install -g @modelcontextprotocol/inspector)")
        return SKIPPED
    tools = inspect("--method", "tools/list")["tools"]
    assert {"profile", "report", "compare"} <= {tool["name"] for tool in tools}, tools
    result = inspect("--method", "tools/call", "--tool-name", "report",
                     "--tool-arg", "report=reference/h200-ops/report.json", "--tool-arg", "row=#1")
    assert not result.get("isError"), result
    assert "relu fp32 2^28" in result["content"][0]["text"], result
    refused = inspect("--method", "tools/call", "--tool-name", "report", "--tool-arg", "report=../README.md")
    assert refused["isError"], refused
    print("mcp_client: 3 calls of the official client passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
