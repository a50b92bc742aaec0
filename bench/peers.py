"""Peers: installed by package name into environments of their own under bench/.peers."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

Words = Sequence[str | Path]
FOLDER = Path(__file__).parent / ".peers"
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "keyfold",
    "AWS_SECRET_ACCESS_KEY": "keyfold",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


class Missing(Exception):
    """A peer that cannot be had here; the reason is reported, not hidden."""


NODE_PACKAGES = ("@dynoxide/linux-x64", "dynalite")


def python(name: str, *packages: str) -> Path:
    """The interpreter of an environment with these packages, or with the one of that name."""
    folder = FOLDER / name
    if not (folder / "installed").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        _install(name, [sys.executable, "-m", "venv", folder])
        _install(name, [folder / "bin" / "pip", "install", "-q", *(packages or (name,))])
        (folder / "installed").touch()
    return folder / "bin" / "python"


def installed(stack: ExitStack) -> Path:
    """The interpreter of an environment with keyfold as it is now, as pip installs it."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    parts = [Path(__file__).parents[1] / "packages" / part for part in ("engine", "keyfold")]
    _install("keyfold", [sys.executable, "-m", "venv", folder])
    _install("keyfold", [folder / "bin" / "pip", "install", "-q", *parts])
    return folder / "bin" / "python"


def node() -> Path:
    """The folder of npm packages; the tests of real clients share it."""
    if shutil.which("npm") is None:
        raise Missing("Node and npm are not installed")
    folder = FOLDER / "node"
    modules = folder / "node_modules"
    if not all((modules / package).exists() for package in NODE_PACKAGES):
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "package.json").exists():
            (folder / "package.json").write_text("{}")
        options = ["--no-audit", "--no-fund", "--no-package-lock"]
        _install("npm packages", ["npm", "install", *options, *NODE_PACKAGES], folder)
    return modules


def _install(what: str, command: Words, folder: Path | None = None) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=300, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Missing(f"{what}: {problem}") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "rror" in line]
        raise Missing(f"{what} could not be installed: {(lines or ['no reason given'])[0][:120]}")


PYTHON_PEERS = ("boto3", "dyntastic", "ministack", "pydynox", "pynamodb")


class Stranger:
    """A peer's work in a process of its own environment."""

    def __init__(self, stack: ExitStack, peer: str, kind: str, url: str) -> None:
        self._process = subprocess.Popen(
            [python(peer), Path(__file__).with_name("strangers.py"), kind, url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **CREDENTIALS},
        )
        stack.callback(self._process.wait)
        stack.callback(self._process.terminate)
        if self._answer() != "ready\n":
            assert self._process.stderr is not None
            reason = (self._process.stderr.read().splitlines() or ["no reason given"])[-1]
            raise Missing(f"{kind} does not work: {reason[:120]}")

    def processor(self, count: int) -> float:
        """Seconds of processor time for a number of items."""
        assert self._process.stdin is not None
        print(count, file=self._process.stdin, flush=True)
        return float(self._answer())

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def server(command: Words, port: int) -> Iterator[int]:
    """A server in its own process; gives its process id once it takes connections."""
    environment = {**os.environ, **CREDENTIALS}
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    try:
        deadline = time.monotonic() + 30
        while not _answers(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise Missing(f"{Path(str(command[0])).name} did not start")
            time.sleep(0.002)
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


Command = Callable[[int, Path], Words]
"""How to start a server on a port; it may keep its data in the folder, which is empty."""


def keyfold(port: int, data: str | Path = ":memory:", *options: str) -> Words:
    program = Path(sys.executable).parent / "keyfold"
    return [program, "serve", "--port", str(port), "--data", data, *options]


def dynoxide(port: int, data: Path | None = None) -> Words:
    program = node() / "@dynoxide" / "linux-x64" / "dynoxide"
    if not program.exists():
        raise Missing("dynoxide has no program for this machine")
    in_file: list[str | Path] = ["--db-path", data] if data else []
    return [program, "--port", str(port), *in_file]


def dynalite(port: int, data: Path | None = None) -> Words:
    program = node() / "dynalite" / "cli.js"
    in_file: list[str | Path] = ["--path", data] if data else []
    return ["node", program, "--port", str(port), "--createTableMs", "0", *in_file]


def ministack(port: int) -> Words:
    program = python("ministack").parent / "ministack"
    return ["env", f"GATEWAY_PORT={port}", f"EDGE_PORT={port}", program]


# Servers by what an answered write means: they are compared with those that promise the same.
# dynoxide waits for the disk with every write, dynalite with none.
SERVERS: dict[str, dict[str, Command]] = {
    "in memory": {
        "keyfold": lambda port, _: keyfold(port),
        "dynoxide": lambda port, _: dynoxide(port),
        "dynalite": lambda port, _: dynalite(port),
        "ministack": lambda port, _: ministack(port),
    },
    "on disk": {
        "keyfold": lambda port, folder: keyfold(port, folder / "data.db"),
        "dynoxide": lambda port, folder: dynoxide(port, folder / "data.db"),
    },
    "in a file": {
        "keyfold": lambda port, folder: keyfold(
            port, folder / "data.db", "--durability", "relaxed"
        ),
        "dynalite": lambda port, folder: dynalite(port, folder / "data"),
    },
}


def versions() -> dict[str, str]:
    """Which versions of the peers were measured, of those that are installed."""
    found = {}
    for package in NODE_PACKAGES:
        path = FOLDER / "node" / "node_modules" / package / "package.json"
        if path.exists():
            described = json.loads(path.read_text())
            found[described["name"]] = described["version"]
    for name in PYTHON_PEERS:
        listed = FOLDER.glob(f"{name}/lib/python*/site-packages/{name}-*.dist-info")
        for path in listed:
            found[name] = path.name.removeprefix(f"{name}-").removesuffix(".dist-info")
    return found
