"""`python -m tests.fuzz [TARGET ...]`: look for inputs that break something, led by coverage.

Needs atheris (`make fuzz` installs it). Each target runs in a process of its own, from the kept
corpus on. What it learns is kept in build/fuzz for the next run; what breaks it is left there as
`crash-...`, and belongs into packages/web/tests/fuzz/corpus with its fix.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from tests.fuzz.targets import TARGETS

CORPUS = Path(__file__).parent / "corpus"
FOUND = Path("build", "fuzz")
LONGEST_INPUT = 4096
SLOWEST_SECONDS = 20
MEMORY_MB = 1024


def main() -> int:
    arguments = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    arguments.add_argument("target", nargs="*", help=f"one of {', '.join(TARGETS)}; all by default")
    arguments.add_argument("--seconds", type=int, default=60, help="for each target")
    given = arguments.parse_args()
    unknown = set(given.target) - set(TARGETS)
    if unknown:
        arguments.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    failed = []
    for name in given.target or TARGETS:
        found, kept = FOUND / name, CORPUS / name
        for folder in (found, kept):
            folder.mkdir(parents=True, exist_ok=True)
        print(f"{name} ...", flush=True)
        work = [f"-max_total_time={given.seconds}", str(found), str(kept)]
        ran = subprocess.run([*_command(name), *work], check=False)
        if ran.returncode:
            failed.append(name)
    if failed:
        print(f"broken: {', '.join(failed)}; the inputs are in {FOUND}", file=sys.stderr)
    return 1 if failed else 0


def _command(name: str) -> list[str]:
    return [
        *(sys.executable, "-c", _FUZZER, name),
        *(f"-max_len={LONGEST_INPUT}", f"-timeout={SLOWEST_SECONDS}", f"-rss_limit_mb={MEMORY_MB}"),
        *(f"-artifact_prefix={FOUND / name}/", "-print_final_stats=1", "-verbosity=0"),
    ]


# Modules are instrumented while they are imported, so nothing may be imported before.
_FUZZER = """
import contextlib, io, sys, atheris
watched = ["keyfold", "jwt", "yaml"]
with contextlib.redirect_stderr(io.StringIO()), atheris.instrument_imports(include=watched):
    from tests.fuzz.targets import TARGETS
name = sys.argv.pop(1)
atheris.Setup(sys.argv, TARGETS[name])
atheris.Fuzz()
"""


if __name__ == "__main__":
    sys.exit(main())
