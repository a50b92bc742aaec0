"""`python -m bench [CASE ...]`: run the cases and write bench/results."""

from __future__ import annotations

import argparse
import pkgutil
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from importlib import import_module
from urllib.parse import urlsplit

from bench import cases, report
from bench.harness import Budget, Case, Outcome
from bench.peers import Missing


def all_cases() -> dict[str, Case]:
    found = {}
    for module in pkgutil.iter_modules(cases.__path__):
        for case in import_module(f"bench.cases.{module.name}").CASES:
            found[case.name] = case
    return found


def _server(text: str) -> tuple[str, str]:
    """What to call a server, and its host and port."""
    name, _, url = text.partition("=")
    parts = urlsplit(url)
    if not name or parts.scheme != "http" or not parts.hostname:
        raise argparse.ArgumentTypeError(f"{text!r} is not like other=http://localhost:8000")
    if name.startswith("keyfold"):
        raise argparse.ArgumentTypeError(f"{name!r} begins as ours do; call it otherwise")
    return name, parts.netloc if parts.port else f"{parts.netloc}:80"


def main(arguments: list[str] | None = None) -> int:
    known = all_cases()
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("case", nargs="*", help=f"one of {', '.join(known)}; all by default")
    parser.add_argument("--quick", action="store_true", help="few short rounds on small tables")
    parser.add_argument("--full", action="store_true", help="large sizes too")
    parser.add_argument("--no-write", action="store_true", help="print only")
    parser.add_argument(
        "--server",
        action="append",
        type=_server,
        default=[],
        metavar="NAME=http://HOST:PORT",
        help="compare with this running server too; a table bench is made there, and dropped",
    )
    given = parser.parse_args(arguments)
    unknown = set(given.case) - set(known)
    if unknown:
        parser.error(f"no case {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    budget = Budget(full=given.full, servers=dict(given.server))
    if given.quick:
        budget = replace(budget, rounds=3, seconds=0.05, items=1_000)
    outcomes: list[Outcome] = []
    for name in given.case or known:
        started = time.monotonic()
        print(f"{known[name].title} ...", file=sys.stderr, flush=True)
        try:
            with ExitStack() as stack:
                outcomes += list(known[name].run(stack, budget))
        except Missing as problem:
            outcomes.append(Outcome(name, known[name].title, "", missing=[str(problem)]))
        print(f"  {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    print(report.table(outcomes))
    if not given.no_write:
        command = " ".join(["python -m bench", *(arguments or sys.argv[1:])]).strip()
        report.write(outcomes, command, known)
    return 0


if __name__ == "__main__":
    sys.exit(main())
