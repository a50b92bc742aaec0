"""The wheels, built and installed into empty environments."""

from __future__ import annotations

import shlex
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("engine", "keyfold", "web", "workbench")
CONSTRAINTS = ("-c", str(ROOT / "constraints.txt"))


def run(*command: str | Path, cwd: Path) -> str:
    answer = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


def refused(*command: str | Path, cwd: Path) -> str:
    answer = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert answer.returncode == 2, answer.stdout + answer.stderr
    return answer.stderr


def pip(programs: Path, *arguments: str) -> str:
    """Our pip, for an environment that has none of its own."""
    python = str(programs / "python")
    return run(sys.executable, "-m", "pip", "--python", python, *arguments, cwd=programs)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    for part in PARTS:
        run(*build, cwd=ROOT / "packages" / part)
    return folder


def installed(wheels: Path, requirement: str, folder: Path) -> Path:
    """The `bin` folder of an environment that has this and what it needs."""
    venv.create(folder)
    links = ("--find-links", str(wheels))
    pip(folder / "bin", "install", "-qq", "--no-compile", *links, *CONSTRAINTS, requirement)
    return folder / "bin"


def packages(programs: Path) -> set[str]:
    lines = pip(programs, "list", "--format=freeze").splitlines()
    return {line.partition("==")[0].lower().replace("-", "_") for line in lines}


@pytest.fixture(scope="module")
def engine(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(wheels, "keyfold-engine", tmp_path_factory.mktemp("engine"))


@pytest.fixture(scope="module")
def keyfold(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(wheels, "keyfold", tmp_path_factory.mktemp("keyfold"))


def test_the_engine_needs_three_packages(engine: Path, tmp_path: Path) -> None:
    assert packages(engine) - {"pip", "setuptools"} == {
        "keyfold_engine",
        "apsw",
        "httptools",
        "orjson",
    }
    assert run(engine / "keyfold-engine", "--version", cwd=tmp_path).startswith("keyfold-engine ")
    assert "--port" in run(engine / "keyfold-engine", "serve", "--help", cwd=tmp_path)
    assert "doctor" in refused(engine / "keyfold-engine", "docter", cwd=tmp_path)


def test_keyfold_needs_pydantic_and_pyyaml_beside_the_engine(keyfold: Path) -> None:
    pydantic = {"annotated_types", "pydantic_core", "typing_extensions", "typing_inspection"}
    engine = {"keyfold_engine", "apsw", "httptools", "orjson"}
    assert packages(keyfold) - {"pip", "setuptools"} == (
        {"keyfold", "pydantic", "pyyaml"} | pydantic | engine
    )


INSTALL = "run: pip install --find-links /folder/of/wheels"


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("studio", f"keyfold studio needs keyfold-workbench; {INSTALL} 'keyfold[workbench]'"),
        ("cost", f"keyfold cost needs keyfold-workbench; {INSTALL} 'keyfold[workbench]'"),
        ("api", f"keyfold api needs keyfold-web; {INSTALL} 'keyfold[web]'"),
        ("demo", "keyfold demo runs in a clone of keyfold; run `make run` there"),
        ("chek", "unknown command 'chek'; did you mean 'check'?"),
    ],
)
def test_a_command_of_a_missing_part_says_how_to_get_it(
    keyfold: Path, tmp_path: Path, command: str, sentence: str
) -> None:
    assert refused(keyfold / "keyfold", command, cwd=tmp_path) == f"keyfold: {sentence}\n"


def test_all_commands_of_keyfold_alone_say_what_they_do(keyfold: Path, tmp_path: Path) -> None:
    overview = run(keyfold / "keyfold", "--help", cwd=tmp_path)
    for command in (line.split()[0] for line in overview.splitlines() if line.startswith("  ")):
        run(keyfold / "keyfold", command, "--help", cwd=tmp_path)


def test_parts_of_different_versions_are_refused_in_one_sentence(
    wheels: Path, tmp_path: Path
) -> None:
    programs = installed(wheels, "keyfold", tmp_path / "mixed")
    (package,) = (tmp_path / "mixed").glob("lib/*/site-packages/keyfold_engine/__init__.py")
    text = package.read_text()
    package.write_text(text.replace('__version__ = "0.1.0"', '__version__ = "9.9.9"'))
    sentence = (
        "keyfold 0.1.0 and keyfold-engine 9.9.9 are installed together; give all parts one "
        "version: pip install --upgrade keyfold keyfold-engine\n"
    )
    assert refused(programs / "keyfold", "guide", cwd=tmp_path) == f"keyfold: {sentence}"
    answer = subprocess.run(
        [programs / "python", "-c", "from keyfold import Design"], capture_output=True, text=True
    )
    assert answer.stderr.endswith(f"MixedVersions: {sentence}")


def test_a_clone_installs_what_an_extra_names(tmp_path: Path) -> None:
    venv.create(tmp_path / "clone")
    programs = tmp_path / "clone/bin"
    pip(programs, "install", "-qq", "--no-compile", *CONSTRAINTS, f"{ROOT}[web]")
    assert {"keyfold", "keyfold_engine", "keyfold_web"} <= packages(programs)
    assert "keyfold_workbench" not in packages(programs)
    assert "--reload" in run(programs / "keyfold", "api", "--help", cwd=tmp_path)
    told = refused(programs / "keyfold", "studio", cwd=tmp_path)
    assert f"pip install {shlex.quote(f'{ROOT}[workbench]')}" in told
    assert f"make -C {ROOT} run" in refused(programs / "keyfold", "demo", cwd=tmp_path)


def test_types_are_shipped(keyfold: Path, tmp_path: Path) -> None:
    for package in ("keyfold", "keyfold_engine"):
        marker = f"(r.files('{package}') / 'py.typed').is_file()"
        script = f"import importlib.resources as r; print({marker})"
        assert run(keyfold / "python", "-c", script, cwd=tmp_path) == "True\n"
