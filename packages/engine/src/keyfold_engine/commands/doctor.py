"""`keyfold doctor`: is a data file whole, and what can be saved of one that is not."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "Check a data file for damage; save what is intact to a new file."
EXAMPLES = (
    "keyfold doctor app.db",
    "keyfold doctor app.db --save rescued.db",
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="data file; it is not changed")
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="output format (default: text)"
    )
    parser.add_argument(
        "--save", type=Path, metavar="TO", help="write what is intact to a new file"
    )


def run(args: argparse.Namespace) -> int:
    from keyfold_engine.doctor.examination import examine, settled
    from keyfold_engine.doctor.rescue import save
    from keyfold_engine.doctor.survey import survey

    with settled(args.file) as copy:
        found = survey(copy.path)
        try:
            saved = save(found, args.save) if args.save else []
            wrong = list(examine(copy, found))
        finally:
            found.pages.close()
    if args.format == "json":
        import orjson

        told = [{"table": one.table, "items": one.items, "lost": one.lost} for one in saved]
        report = {"file": str(args.file), "intact": not wrong, "problems": wrong, "saved": told}
        print(orjson.dumps(report, option=orjson.OPT_INDENT_2, default=str).decode())
        return 1 if wrong else 0
    for line in wrong:
        print(line)
    for one in saved:
        print(f"{args.save}: table {one.table}: {one.items:,} items saved, {one.lost:,} lost")
    print(f"{args.file}: {len(wrong)} problems" if wrong else f"{args.file} is intact")
    return 1 if wrong else 0
