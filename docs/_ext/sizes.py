"""Writes docs/size.md: how large each part is, beside what it was.

python docs/_ext/sizes.py            count the tree
python docs/_ext/sizes.py --measure  also build, install and import each part (a minute)
"""

from __future__ import annotations

import ast
import json
import re
import resource
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "docs" / "size.md"
KEPT = Path(__file__).with_name("sizes.json")
"""The counts of commit 3da7ea14, and what was measured last."""

SOURCES = {
    "keyfold-engine": "packages/engine",
    "keyfold": "packages/keyfold",
    "keyfold-web": "packages/web",
    "keyfold-workbench": "packages/workbench",
    "systems": "systems",
}


@dataclass
class Count:
    """What a folder of Python holds."""

    lines: int = 0
    statements: int = 0
    functions: int = 0
    files: int = 0

    def add(self, path: Path) -> None:
        text = path.read_text("utf-8")
        nodes = list(ast.walk(ast.parse(text)))
        self.lines += text.count("\n")
        self.statements += sum(isinstance(node, ast.stmt) for node in nodes)
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        self.functions += sum(isinstance(node, functions) for node in nodes)
        self.files += 1

    def cells(self) -> str:
        return f"{self.lines:,} | {self.statements:,} | {self.functions:,} | {self.files:,}"


def count(folder: Path) -> Count:
    found = Count()
    for path in sorted(folder.rglob("*.py")):
        found.add(path)
    return found


def other_lines(folder: Path, *endings: str) -> int:
    return sum(
        path.read_text("utf-8").count("\n")
        for ending in endings
        for path in folder.rglob(f"*.{ending}")
    )


def public_names(package: Path) -> int:
    text = (package / "__init__.py").read_text("utf-8")
    listed = re.search(r"^__all__ = \[(.*?)\]", text, re.MULTILINE | re.DOTALL)
    return len(re.findall(r'"', listed[1])) // 2 if listed else 0


def page() -> str:
    kept = json.loads(KEPT.read_text("utf-8"))
    rows = [
        "# Size",
        "",
        "`python docs/_ext/sizes.py` counts the Python of each part, without tests. Before: commit "
        "3da7ea14, one wheel.",
        "",
        "| | lines | statements | functions | files | public names | lines before |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    everything = Count()
    for name, folder in SOURCES.items():
        source = ROOT / folder / "src"
        whole = count(source)
        before = kept["before"][name]
        (package, *_) = sorted(one for one in source.iterdir() if (one / "__init__.py").is_file())
        names = public_names(package) if name != "systems" else ""
        rows.append(f"| **{name}** | {whole.cells()} | {names} | {before:,} |")
        if name != "systems":
            for field in vars(everything):
                setattr(everything, field, getattr(everything, field) + getattr(whole, field))
        for inner in sorted(one for each in source.iterdir() for one in each.iterdir()):
            if inner.is_dir() and (inside := count(inner)).files:
                rows.append(f"| {inner.relative_to(source)} | {inside.cells()} | | |")
    total = sum(lines for name, lines in kept["before"].items() if name != "systems")
    rows.append(f"| **all without the systems** | {everything.cells()} | | {total:,} |")
    systems = ROOT / "systems/src"
    rows += [
        "",
        f"The systems also hold {other_lines(systems, 'js', 'css', 'html'):,} lines of pages and "
        f"{other_lines(systems, 'pyi'):,} lines of type stubs (before: 2,897 and 3,888).",
        "",
        "## As installed",
        "",
        "Third-party dependencies are those that an installation brings along. The time of an "
        "import is the least of nine turns, in processor time, less that of an empty interpreter.",
        "",
        "| | third-party | wheel | installed | import |",
        "| --- | ---: | ---: | ---: | ---: |",
        *(f"| {name} | {' | '.join(cells)} |" for name, cells in kept["measured"].items()),
        "",
    ]
    return "\n".join(rows)


def measure(name: str, wheels: Path) -> list[str]:
    """Dependencies, size of the wheel, installed size, import time of one part."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder)
        python = Path(folder) / "bin/python"
        pip = [sys.executable, "-m", "pip", "--python", str(python)]
        options = ["-qq", "--find-links", str(wheels), "-c", str(ROOT / "constraints.txt")]
        subprocess.run([*pip, "install", *options, name], check=True)
        listed = subprocess.run([*pip, "list", "--format=json"], capture_output=True, check=True)
        names = {one["name"] for one in json.loads(listed.stdout)} - {"pip", "setuptools"}
        third_party = [one for one in names if not one.startswith("keyfold")]
        package = name.replace("-", "_")
        (home,) = Path(folder).glob(f"lib/*/site-packages/{package}")
        size = sum(path.stat().st_size for path in home.rglob("*") if path.is_file())
        (wheel,) = wheels.glob(f"{package}-*.whl")
        took = import_time(python, f"import {package}") - import_time(python, "")
    return [
        str(len(third_party)),
        f"{wheel.stat().st_size / 1e6:.1f} MB",
        f"{size / 1e6:.1f} MB",
        f"{took * 1000:.0f} ms",
    ]


def import_time(python: Path, script: str) -> float:
    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([python, "-c", script], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return min(once() for _ in range(9))


def main() -> None:
    if "--measure" in sys.argv:
        kept = json.loads(KEPT.read_text("utf-8"))
        with tempfile.TemporaryDirectory() as wheels:
            build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", wheels]
            parts = {name: folder for name, folder in SOURCES.items() if name != "systems"}
            for folder in parts.values():
                subprocess.run(build, cwd=ROOT / folder, check=True, capture_output=True)
            kept["measured"] = {name: measure(name, Path(wheels)) for name in parts}
        KEPT.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    TARGET.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
