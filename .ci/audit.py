"""Dependencies fit together, and none has a known hole, as far as that can be found out.

Without a network the installed versions are held against the holes in `advisories.toml`; with one
an index is asked for all of them. What it does not answer for is named: it was not looked at.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BUILD_ONLY = ("pip", "setuptools")
"""What Python's own installers bring along, and nothing of keyfold runs."""


def main() -> None:
    if run("pip", "check").returncode:
        sys.exit("make audit: installed packages do not fit together; run `pip check`")
    installed = versions()
    if found := holes(installed, advisories()):
        sys.exit("make audit: known holes\n" + "\n".join(found))
    print(f"audit: {len(installed)} installed packages, none with a hole of advisories.toml")
    if run("pip", "install", "-qq", "pip-audit").returncode:
        print("audit: pip-audit cannot be installed, so that no index was asked")
        return
    asked = ROOT / ".mypy_cache" / "audited.txt"
    asked.parent.mkdir(exist_ok=True)
    asked.write_text("".join(f"{name}=={version}\n" for name, version in installed.items()))
    options = ("--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json")
    answer = run("pip_audit", "-r", str(asked), *options)
    try:
        packages: list[dict[str, Any]] = json.loads(answer.stdout)["dependencies"]
    except ValueError:
        print("audit: the index did not answer")
        return
    told = [f"{one['name']}: {hole['id']}" for one in packages for hole in one.get("vulns", ())]
    if told:
        sys.exit("make audit: known holes\n" + "\n".join(told))
    skipped = [one["name"] for one in packages if "skip_reason" in one]
    if len(skipped) == len(packages):
        print("audit: the index knows no holes at all, of no package: it was not looked at")
        return
    print(f"audit: the index knows no hole of {len(packages) - len(skipped)} packages")
    if skipped:
        print(f"audit: it was not looked at {', '.join(skipped)}, of which it knows nothing")


def versions() -> dict[str, str]:
    """What is installed here, by its name in small letters."""
    found = ((one.metadata["Name"], one.version) for one in metadata.distributions())
    named = {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found if name}
    return {name: named[name] for name in sorted(named) if name not in ("keyfold", *BUILD_ONLY)}


def advisories() -> dict[str, tuple[str, str]]:
    """Each hole's package, and the first version without it."""
    fixed = tomllib.loads((ROOT / ".ci" / "advisories.toml").read_text())["fixed"]
    return {hole: tuple(text.split()) for hole, text in fixed.items()}


def holes(installed: dict[str, str], known: dict[str, tuple[str, str]]) -> list[str]:
    """The holes that installed versions have."""
    return [
        f"{name} {installed[name]}: {hole}, closed in {fixed}"
        for hole, (name, fixed) in known.items()
        if name in installed and _numbers(installed[name]) < _numbers(fixed)
    ]


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version.partition("+")[0])]


def run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


if __name__ == "__main__":
    main()
