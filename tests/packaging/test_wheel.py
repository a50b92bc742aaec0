"""The wheel, built and installed into an empty environment."""

from __future__ import annotations

import signal
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*command: str | Path, cwd: Path) -> str:
    answer = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    run(*build, cwd=ROOT)
    (path,) = folder.glob("keyfold-*.whl")
    return path


def installed(requirement: str, folder: Path) -> Path:
    """The `bin` folder of an environment that has this and nothing else."""
    venv.create(folder)
    constraints = ("-c", str(ROOT / "constraints.txt"))
    pip(folder / "bin", "install", "-qq", "--no-compile", *constraints, requirement)
    return folder / "bin"


def pip(programs: Path, *arguments: str) -> str:
    """Our pip, for an environment that has none of its own."""
    python = str(programs / "python")
    return run(sys.executable, "-m", "pip", "--python", python, *arguments, cwd=programs)


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(str(wheel), tmp_path_factory.mktemp("core"))


def test_the_command_runs_from_the_core_alone(environment: Path, tmp_path: Path) -> None:
    assert run(environment / "keyfold", "--version", cwd=tmp_path).startswith("keyfold ")
    assert "settings" in run(environment / "keyfold", "--help", cwd=tmp_path)


def test_the_core_needs_three_packages_and_what_they_need(
    environment: Path,
) -> None:
    listed = pip(environment, "list", "--format=freeze")
    names = {line.partition("==")[0].lower().replace("-", "_") for line in listed.splitlines()}
    pydantic_needs = {"annotated_types", "pydantic_core", "typing_extensions", "typing_inspection"}
    assert (
        names - {"pip", "setuptools", "keyfold"} <= {"pydantic", "orjson", "apsw"} | pydantic_needs
    )


def test_the_demo_says_what_the_core_lacks(environment: Path, tmp_path: Path) -> None:
    answer = subprocess.run(
        [environment / "keyfold", "demo"], cwd=tmp_path, capture_output=True, text=True
    )
    assert answer.returncode == 2
    assert "pip install 'keyfold[all]'" in answer.stderr


def test_the_demo_runs_from_the_wheel(
    wheel: Path, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    programs = installed(f"{wheel}[all]", tmp_path_factory.mktemp("all"))
    process = subprocess.Popen(
        [programs / "keyfold", "demo", "--port", "0", "--dynamodb-port", "0"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout
    with process.stdout as printed:
        lines = []
        for line in printed:
            lines.append(line)
            if line.startswith("Data:"):
                process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0, "".join(lines)
    assert lines[-1] == "Stopped.\n"


def test_types_are_shipped(environment: Path, tmp_path: Path) -> None:
    script = (
        "import importlib.resources as r; print(r.files('keyfold').joinpath('py.typed').is_file())"
    )
    assert run(environment / "python", "-c", script, cwd=tmp_path) == "True\n"
