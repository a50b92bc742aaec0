"""Other people's clients and servers, each in an environment of its own under bench/.peers.

They are installed by package name when a test first needs them and kept; where that is not
possible (no Node, no registry) the tests that need them are skipped with the reason.
"""

from __future__ import annotations

import fcntl
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PEERS = ROOT / "bench" / ".peers"
NODE_PACKAGES = [
    "@aws-sdk/client-dynamodb",
    "@aws-sdk/lib-dynamodb",
    "dynalite",
    "dynamodb-admin",
    "electrodb",
]
if (platform.system(), platform.machine()) == ("Linux", "x86_64"):
    NODE_PACKAGES += ["@dynoxide/linux-x64", "@extenddb/linux-x64"]
NODE_PACKAGES_OF = "2026-11-01"
"""npm takes no release later than this, so that all of them fit together."""
PYTHON_PACKAGES = {
    "aws": "awscli",
    "bloop": "bloop",
    "ministack": "ministack",
    "moto": "moto[dynamodb,server]",
    "pydynamodb": "pydynamodb",
}
INSTALL_SECONDS = 300
START_SECONDS = 30

CREDENTIALS = {
    # Amazon's example, and the one that ExtendDB accepts; it checks signatures.
    "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


@contextmanager
def installing() -> Iterator[None]:
    """Test processes install one after another."""
    PEERS.mkdir(parents=True, exist_ok=True)
    with (PEERS / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run_installer(what: str, command: Sequence[str | Path], folder: Path) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"{what} could not be installed in {INSTALL_SECONDS} seconds")
    if done.returncode:
        output = (done.stderr or done.stdout).splitlines()
        reason = next((line for line in output if "rror" in line), "no reason given")
        pytest.skip(f"{what} could not be installed: {reason}")


def python_peer(name: str) -> Path:
    """The folder of programs of a Python package in its own environment."""
    folder = PEERS / name
    with installing():
        if not (folder / "installed").exists():
            shutil.rmtree(folder, ignore_errors=True)
            run_installer(name, [sys.executable, "-m", "venv", folder], PEERS)
            pip = folder / "bin" / "pip"
            run_installer(name, [pip, "install", "-q", PYTHON_PACKAGES[name]], folder)
            (folder / "installed").touch()
    return folder / "bin"


@pytest.fixture(scope="session")
def node_modules() -> Path:
    """Where the npm packages are."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("Node and npm are not installed")
    folder = PEERS / "node"
    with installing():
        if not all((folder / "node_modules" / package).exists() for package in NODE_PACKAGES):
            folder.mkdir(exist_ok=True)
            (folder / "package.json").write_text("{}")
            options = ("--no-audit", "--no-fund", "--no-package-lock", "--before", NODE_PACKAGES_OF)
            run_installer("npm packages", ["npm", "install", *options, *NODE_PACKAGES], folder)
    return folder / "node_modules"


@pytest.fixture(scope="session")
def aws() -> Path:
    """The AWS command line."""
    return python_peer("aws") / "aws"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(command: Sequence[str | Path], port: int, folder: Path, **more: str) -> Iterator[str]:
    """A server in a process of its own, once it takes connections."""
    with (folder / f"server-{port}.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, stdout=log, stderr=log, env={**os.environ, **CREDENTIALS, **more}
        )
        try:
            deadline = time.monotonic() + START_SECONDS
            while not _takes_connections(port):
                if process.poll() is not None or time.monotonic() > deadline:
                    pytest.fail(f"{command[0]} did not start: {Path(log.name).read_text()[-500:]}")
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _takes_connections(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


@contextmanager
def keyfold_server(folder: Path, workers: int = 2) -> Iterator[str]:
    """`keyfold serve` on a file, in a process of its own."""
    command = (
        sys.executable,
        "-c",
        "import sys; from keyfold.cli import main; sys.exit(main())",
        *("serve", "--port", "0", "--data", str(folder / "peers.db")),
        *("--workers", str(workers)),
    )
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found, "keyfold serve did not start"
        yield found[0]
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="session")
def keyfold_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that all tests share."""
    with keyfold_server(tmp_path_factory.mktemp("keyfold")) as url:
        yield url


@contextmanager
def dynoxide(folder: Path, node: Path) -> Iterator[str]:
    program = node / "@dynoxide" / "linux-x64" / "dynoxide"
    if not program.exists():
        pytest.skip("dynoxide has no program for this machine")
    port = free_port()
    with running([program, "--port", str(port)], port, folder) as url:
        yield url


EXTENDDB_INDEX_LAG = "1.2"
"""Its indexes follow within a second; tests that read them wait so many seconds after a write."""


@contextmanager
def extenddb(folder: Path, node: Path) -> Iterator[str]:
    program = node / "@extenddb" / "linux-x64" / "extenddb"
    if not program.exists():
        pytest.skip("ExtendDB has no program for this machine")
    port = free_port()
    home = {"HOME": str(folder)}
    prepare = (
        program,
        "init",
        "--config",
        "extenddb.toml",
        "--sqlite-path",
        folder / "data.sqlite",
    )
    subprocess.run(prepare, cwd=folder, check=True, capture_output=True, env={**os.environ, **home})
    serve = (program, "serve", "--config", "extenddb.toml", "--port", str(port), "--foreground")
    with running(serve, port, folder, **home) as url:
        yield url


@contextmanager
def dynalite(folder: Path, node: Path) -> Iterator[str]:
    port = free_port()
    program = str(node / "dynalite" / "cli.js")
    command = ["node", program, "--port", str(port), "--createTableMs", "0"]
    with running(command, port, folder) as url:
        yield url


@contextmanager
def moto(folder: Path) -> Iterator[str]:
    port = free_port()
    with running([python_peer("moto") / "moto_server", "-p", str(port)], port, folder) as url:
        yield url


@contextmanager
def ministack(folder: Path) -> Iterator[str]:
    port = free_port()
    program = python_peer("ministack") / "ministack"
    with running([program], port, folder, GATEWAY_PORT=str(port), EDGE_PORT=str(port)) as url:
        yield url


OTHERS = ["dynoxide", "extenddb", "dynalite", "moto", "ministack"]
if GIVEN := os.environ.get("KEYFOLD_PEER", ""):
    OTHERS.append("given")


@pytest.fixture(scope="module", params=OTHERS)
def other_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, str]]:
    """The name and address of somebody else's server; KEYFOLD_PEER=http://... is one more."""
    if request.param == "given":
        yield "given", GIVEN
        return
    with pytest.MonkeyPatch.context() as environment:
        for name, value in CREDENTIALS.items():
            environment.setenv(name, value)
        yield from _other_server(request, tmp_path_factory)


def _other_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, str]]:
    folder = tmp_path_factory.mktemp(request.param)
    with_node = {"dynoxide": dynoxide, "extenddb": extenddb, "dynalite": dynalite}
    if request.param in with_node:
        start = with_node[request.param](folder, request.getfixturevalue("node_modules"))
    else:
        start = {"moto": moto, "ministack": ministack}[request.param](folder)
    with start as url:
        yield request.param, url


def pass_there(tests: Sequence[Path], address: str, index_lag: str = "0") -> None:
    """Tests of a system, as they are, in a process that finds its backend at an address."""
    there = {"KEYFOLD_SYSTEMS_ADDRESS": address, "KEYFOLD_SYSTEMS_INDEX_LAG": index_lag}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        cwd=ROOT,
        # All files, each at its usual length.
        env={**os.environ, **CREDENTIALS, **there, "KEYFOLD_FULL": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout


@pytest.fixture
def run_node(node_modules: Path) -> Callable[[str, str], str]:
    """Run a script of tests/peers/node against an endpoint; its standard output."""

    def run(script: str, url: str) -> str:
        done = subprocess.run(
            ["node", Path(__file__).parent / "node" / script, url],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, **CREDENTIALS, "NODE_PATH": str(node_modules)},
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """What every AWS tool finds in its environment."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
