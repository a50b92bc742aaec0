"""The load on a server: prepared request bytes over a few open connections, sent by wrk.

wrk costs a fraction of what the servers do, so that what is measured is the server. It is the
Debian package of that name and is installed where it is missing and that is possible.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from bench.peers import Missing
from bench.processor import spent

_INSTALL = ("apt-get", "install", "-y", "wrk")

# Requests come with their lengths, since Lua would change line ends in a text of its own.
_SCRIPT = """
local file, requests, at = io.open(os.getenv("BENCH_REQUESTS"), "rb"), {}, 0
for length in function() return file:read("*number", 1) end do
  requests[#requests + 1] = file:read(length)
end
local count = #requests
function request()
  at = at % count + 1
  return requests[at]
end
function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.timeout + errors.status
  io.write(string.format(
    '\\n{"per_second": %f, "requests": %d, "p99_ms": %f, "failed": %d}\\n',
    summary.requests / summary.duration * 1e6, summary.requests, latency:percentile(99) / 1e3,
    failed
  ))
end
"""
# No server of ours or of the peers looks at it, so all are sent the same bytes.
_HOST = "127.0.0.1:8000"


def local(port: int) -> str:
    """The address of a server on this machine."""
    return f"127.0.0.1:{port}"


def prepared(operation: str, requests: Iterable[Any]) -> list[bytes]:
    """Requests as they go over the wire; servers that check signatures need other ones."""
    start = (
        "POST / HTTP/1.1\r\n"
        f"Host: {_HOST}\r\n"
        f"X-Amz-Target: DynamoDB_20120810.{operation}\r\n"
        "Content-Type: application/x-amz-json-1.0\r\n"
        "Authorization: AWS4-HMAC-SHA256 Credential=keyfold/20250101/us-east-1/dynamodb/"
        "aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature="
        + "0" * 64
        + "\r\nX-Amz-Date: 20250101T000000Z\r\nContent-Length: "
    ).encode()
    bodies = map(orjson.dumps, requests)
    return [b"%b%d\r\n\r\n%b" % (start, len(body), body) for body in bodies]


class Load:
    """Requests in a file, to be sent to one server after another."""

    def __init__(self, stack: ExitStack, requests: Iterable[bytes]) -> None:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        self._script, self._sent = folder / "requests.lua", folder / "requests"
        self._script.write_text(_SCRIPT)
        with self._sent.open("wb") as file:
            file.writelines(b"%d\n%b\n" % (len(data), data) for data in requests)

    def drive(self, address: str, connections: int, seconds: float) -> dict[str, float]:
        """Send them, from the first one on; answers, their rate, and how many failed."""
        command = [
            generator(),
            "--threads=1",
            f"--connections={connections}",
            f"--duration={math.ceil(seconds)}s",
            "--timeout=30s",
            f"--script={self._script}",
            f"http://{address}",
        ]
        environment = {**os.environ, "BENCH_REQUESTS": str(self._sent)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Missing(f"wrk: {(done.stderr or done.stdout).strip()[:200]}")
        found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        return found


def measured(
    load: Load, address: str, processes: Sequence[int], connections: int, seconds: float
) -> dict[str, float]:
    """What `drive` gives, with the microseconds of processor time that an answer took the server's
    processes.
    """
    before = spent(processes)
    found = load.drive(address, connections, seconds)
    found["processor"] = 1e6 * (spent(processes) - before) / max(1, found["requests"])
    return found


@cache
def generator() -> str:
    """The program, installed if need be."""
    if shutil.which("wrk") is None and shutil.which("apt-get") and os.geteuid() == 0:
        subprocess.run(_INSTALL, capture_output=True, check=False)
    found = shutil.which("wrk")
    if found is None:
        raise Missing(f"wrk, which sends the load, is not installed: {' '.join(_INSTALL)}")
    return found
