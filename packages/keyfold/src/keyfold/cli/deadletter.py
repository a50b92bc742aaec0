"""`keyfold deadletter`: look at records whose effect failed, try them again, or drop them."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from keyfold.cli._target import add_target, open_db

if TYPE_CHECKING:
    from keyfold.runtime.db import Db
    from keyfold.streams import DeadLetter

HELP = "List, show, replay or drop records that failed permanently."
FAILED = 1


def configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, text in (
        ("list", "List all dead letters, oldest first."),
        ("show", "Show one with its record and traceback."),
        ("replay", "Process the record again and delete the letter."),
        ("drop", "Delete a letter."),
    ):
        made = commands.add_parser(name, help=text, description=text)
        add_target(made)
        if name != "list":
            made.add_argument("--id", help="id of the dead letter, or its first characters")
        if name in ("replay", "drop"):
            made.add_argument("--all", action="store_true", help="all of them")


def run(args: argparse.Namespace) -> int:
    with open_db(args) as db:
        if args.action == "list":
            return _list(db)
        if args.action == "show":
            return _show(_one(db, args.id))
        return _decide(db, args)


def _list(db: Db) -> int:
    from keyfold.streams import letters

    for letter in db.run(letters(db.context)):
        at = datetime.fromtimestamp(letter.at, UTC)
        print(f"{letter.id}  {at:%Y-%m-%d %H:%M:%S}  {letter.effect}  {letter.reason}")
    return 0


def _one(db: Db, id: str | None) -> DeadLetter:
    from keyfold.errors import KeyfoldError
    from keyfold.streams import letter, letters

    if not id:
        raise KeyfoldError("--id is missing; `keyfold deadletter list` shows the ids")
    begun = [one for one in db.run(letters(db.context)) if one.id.startswith(id)]
    if len(begun) > 1 and all(one.id != id for one in begun):
        raise KeyfoldError(f"{len(begun)} dead letters start with {id}; give more characters")
    return begun[0] if len(begun) == 1 else db.run(letter(db.context, id))


def _show(letter: DeadLetter) -> int:
    import orjson

    print(f"{letter.effect} failed {letter.attempts} times for a record of {letter.table}")
    if letter.record is None:
        print("the record was too large to store")
    else:
        print(orjson.dumps(letter.record, option=orjson.OPT_INDENT_2).decode())
    print(letter.trace)
    return 0


def _decide(db: Db, args: argparse.Namespace) -> int:
    from keyfold.streams import drop, letters, replay

    chosen = db.run(letters(db.context)) if args.all else [_one(db, args.id)]
    failed = 0
    for letter in chosen:
        if args.action == "drop":
            db.run(drop(db.context, letter.id))
            print(f"{letter.id}  dropped")
            continue
        try:
            db.run(replay(db, letter))
            print(f"{letter.id}  done")
        except Exception as problem:
            failed += 1
            print(f"{letter.id}  {type(problem).__name__}: {problem}")
    return FAILED if failed else 0
