"""Build wheel and source archive reproducibly, check them, try the wheel where nothing else is.

python .ci/dist.py FOLDER
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main(folder: Path) -> None:
    version = read_version()
    check_changelog(version)
    built, again = build(folder), None
    with tempfile.TemporaryDirectory() as other:
        again = build(Path(other))
    if built != again:
        fail("two builds of the same source differ")
    wheel = folder / f"keyfold-{version}-py3-none-any.whl"
    try_out(wheel, version)
    for name, digest in sorted(built.items()):
        print(f"{digest}  {folder / name}")


def read_version() -> str:
    """The version of pyproject.toml, which the package states too."""
    stated: str = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    package = (ROOT / "packages/keyfold/src/keyfold/__init__.py").read_text()
    if f'__version__ = "{stated}"' not in package:
        fail(f"pyproject.toml says {stated}, packages/keyfold/src/keyfold/__init__.py says something else")
    return stated


def check_changelog(version: str) -> None:
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    if not {version, "Unreleased"} & set(headings):
        fail(f"CHANGELOG.md has no section for {version}, nor Unreleased")


def build(folder: Path) -> dict[str, str]:
    """Names of what was built, and their digests."""
    folder.mkdir(parents=True, exist_ok=True)
    moment = run("git", "log", "-1", "--format=%ct", cwd=ROOT).strip()
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder.resolve())]
    run(*command, cwd=ROOT, SOURCE_DATE_EPOCH=moment)
    made = [*folder.glob("keyfold-*.whl"), *folder.glob("keyfold-*.tar.gz")]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in made}


def try_out(wheel: Path, version: str) -> None:
    """Install the wheel with everything into an empty environment and ask it who it is."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin/python"
        constraints = str(ROOT / "constraints.txt")
        wanted = f"{wheel.resolve()}[all]"
        run(python, "-m", "pip", "install", "-qq", "-c", constraints, wanted, cwd=Path(folder))
        run(python, "-m", "pip", "check", cwd=Path(folder))
        said = run(Path(folder) / "bin/keyfold", "--version", cwd=Path(folder))
        if version not in said:
            fail(f"the installed command says {said.strip()!r}, not {version}")


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    answer = subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True
    )
    if answer.returncode:
        fail(f"{' '.join(map(str, command))}\n{answer.stdout}{answer.stderr}")
    return answer.stdout


def fail(reason: str) -> None:
    sys.exit(f"make dist: {reason}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
