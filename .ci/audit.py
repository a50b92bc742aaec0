"""Dependencies fit together, and none has a known hole, as far as the index can be asked.

A package that the index does not answer for is named: it was not looked at.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    if run("pip", "check").returncode:
        sys.exit("make audit: installed packages do not fit together; run `pip check`")
    if run("pip", "install", "-qq", "pip-audit").returncode:
        print("audit: pip-audit cannot be installed, so known holes were not looked for")
        return
    options = ("--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json")
    answer = run("pip_audit", "-r", str(ROOT / "constraints.txt"), *options)
    try:
        packages: list[dict[str, Any]] = json.loads(answer.stdout)["dependencies"]
    except ValueError:
        print("audit: the index did not answer, so known holes were not looked for")
        return
    holes = [f"{one['name']}: {hole['id']}" for one in packages for hole in one.get("vulns", ())]
    if holes:
        sys.exit("make audit: known holes\n" + "\n".join(holes))
    skipped = [one["name"] for one in packages if "skip_reason" in one]
    print(f"audit: {len(packages) - len(skipped)} of {len(packages)} packages without a known hole")
    if skipped:
        print(f"audit: not looked at, as the index knows nothing of them: {', '.join(skipped)}")


def run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


if __name__ == "__main__":
    main()
