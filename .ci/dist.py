"""Build wheels and source archives of the four parts reproducibly, check them, and try the wheels
where nothing else is: one by one, and together.

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
PARTS = {
    "keyfold-engine": ("engine", "keyfold-engine"),
    "keyfold": ("keyfold", "keyfold"),
    "keyfold-web": ("web", "keyfold"),
    "keyfold-workbench": ("workbench", "keyfold"),
}
"""Each distribution: its folder in packages, and the program that it brings or extends."""


def main(folder: Path) -> None:
    version = read_version()
    check_changelog(version)
    built = build(folder)
    with tempfile.TemporaryDirectory() as other:
        if built != build(Path(other)):
            fail("two builds of the same source differ")
    for name, (_, program) in PARTS.items():
        try_out(folder, name, program, version)
    try_out(folder, "keyfold[all]", "keyfold", version)
    for name, digest in sorted(built.items()):
        print(f"{digest}  {folder / name}")


def read_version() -> str:
    """The one version, which every part states twice."""
    stated = set()
    for name, (part, _) in PARTS.items():
        folder = ROOT / "packages" / part
        stated.add(tomllib.loads((folder / "pyproject.toml").read_text())["project"]["version"])
        package = folder / "src" / name.replace("-", "_") / "__init__.py"
        stated |= set(re.findall(r'^__version__ = "(.+)"$', package.read_text(), re.MULTILINE))
    if len(stated) != 1:
        fail(f"the parts state several versions: {', '.join(sorted(stated))}")
    return str(stated.pop())


def check_changelog(version: str) -> None:
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    if not {version, "Unreleased"} & set(headings):
        fail(f"CHANGELOG.md has no section for {version}, nor Unreleased")


def build(folder: Path) -> dict[str, str]:
    """Names of what was built, and their digests."""
    folder.mkdir(parents=True, exist_ok=True)
    moment = run("git", "log", "-1", "--format=%ct", cwd=ROOT).strip()
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder.resolve())]
    for part, _ in PARTS.values():
        run(*command, cwd=ROOT / "packages" / part, SOURCE_DATE_EPOCH=moment)
    made = [*folder.glob("keyfold*.whl"), *folder.glob("keyfold*.tar.gz")]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in made}


def try_out(wheels: Path, requirement: str, program: str, version: str) -> None:
    """Install one distribution into an empty environment and ask its program who it is."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder)
        programs = Path(folder) / "bin"
        pip = (sys.executable, "-m", "pip", "--python", str(programs / "python"))
        options = ("-qq", "--find-links", str(wheels.resolve()))
        options += ("--constraint", str(ROOT / "constraints.txt"))
        run(*pip, "install", *options, requirement, cwd=Path(folder))
        run(*pip, "check", cwd=Path(folder))
        said = run(programs / program, "--version", cwd=Path(folder))
        if version not in said:
            fail(f"{requirement}: the installed command says {said.strip()!r}, not {version}")


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
