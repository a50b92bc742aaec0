"""`keyfold guide`: the whole language on one page, written from the code."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from keyfold import settings

HELP = "Print a compact reference of the language and its commands, the settings, or completion."
EXAMPLES = (
    "keyfold guide",
    "keyfold guide --settings",
)
SHELLS = ("bash", "zsh", "fish")

LONGEST_SIGNATURE = 300

BEGIN = '''\
# keyfold

A DynamoDB design is declared once, in Python; keyfold checks it, runs it, documents it and
migrates it.

```python
from typing import Annotated
from keyfold import Counter, Design, Entity, Index, Key, On, Query, Unique, Version

design = Design("shop")
table = design.table("Shop", indexes=[Index("ByCustomer", "gsi1pk", "gsi1sk")])

class Customer(Entity, table=table):
    customer_id: str
    email: str
    orders: Annotated[int, Counter("Order")] = 0
    version: Annotated[int, Version()] = 0
    key = Key("CUSTOMER#{customer_id}", "CUSTOMER")
    by_email = Unique("email")

class Order(Entity, table=table):
    customer_id: str
    order_id: str
    key = Key("CUSTOMER#{customer_id}", "ORDER#{order_id}")
    newest = On("ByCustomer", "CUSTOMER#{customer_id}", "ORDER#{order_id}")

@design.pattern(requests=1)
def orders_of(customer_id: str, limit: int = 20) -> Query[Order]:
    """The newest orders of a customer."""
    return Order.newest.query(customer_id=customer_id).descending().limit(limit)

db = design.open("shop.db")           # or ":memory:", "http://localhost:8000", "dynamodb://eu-west-1"
db.create(Customer(customer_id="c", email="a@x"))
db.create(Order(customer_id="c", order_id="1"))      # the customer's counter follows
page = orders_of(db, "c")                             # page.items, page.cursor
db.update(Customer.key(customer_id="c"), email="b@x")
```

Rules of thumb: one access pattern is one Query or GetItem; a list never fetches its rows one by
one; what a list shows is copied by a pointer; a counter, a unique value or a copy is declared and
never written by hand.'''


def configure(parser: argparse.ArgumentParser) -> None:
    other = parser.add_mutually_exclusive_group()
    other.add_argument(
        "--settings",
        dest="shows_settings",
        action="store_true",
        help="show each setting, its value and its source instead",
    )
    other.add_argument(
        "--completion", choices=SHELLS, help="print a completion script for this shell instead"
    )
    settings.add_flags(parser, *settings.BY_NAME)


def run(args: argparse.Namespace) -> int:
    if args.shows_settings:
        print(_settings(settings.from_arguments(args)))
        return 0
    if args.completion:
        from keyfold.cli._completion import script

        print(script(args.completion), end="")
        return 0
    print(agent_guide(), end="")
    return 0


def _settings(current: settings.Settings) -> str:
    rows = [
        (name, _format(getattr(current, name)), current.origin(name)) for name in settings.BY_NAME
    ]
    name_width, value_width = (max(len(row[column]) for row in rows) for column in (0, 1))
    return "\n".join(
        f"{name:<{name_width}}  {value:<{value_width}}  {origin}" for name, value, origin in rows
    )


def _format(value: str | Mapping[str, str]) -> str:
    if isinstance(value, str):
        return value or "-"
    return ",".join(f"{table}={name}" for table, name in value.items()) or "-"


def agent_guide() -> str:
    """Everything an assistant needs to use this version, and nothing else."""
    parts = [BEGIN, *_names(), *_handle(), *_rules(), *_commands()]
    return "\n".join(parts) + "\n"


def _names() -> Iterator[str]:
    import keyfold

    for home, names in {"keyfold": keyfold.__all__, **keyfold.MODULES}.items():
        yield f"\n## Public names of `{home}`\n"
        for name in sorted(names):
            value = getattr(import_module(home), name)
            yield f"- `{name}{_signature(value)}`{_summary(value)}"


def _handle() -> Iterator[str]:
    from keyfold import Db, Design

    for kind, title in ((Design, "A design"), (Db, "A handle; `AsyncDb` has the same, awaited")):
        yield f"\n## {title}\n"
        for name in dir(kind):
            method = getattr(kind, name)
            if not name.startswith("_") and inspect.isfunction(method) and method.__doc__:
                yield f"- `{name}{_signature(method)}`{_summary(method)}"


def _rules() -> Iterator[str]:
    from keyfold.review.check import rules

    yield "\n## Rules of `keyfold check` (`keyfold rule CODE` shows details)\n"
    for rule in rules():
        yield f"- {rule.code} {rule.name} ({rule.severity}): {rule.title}"


def _commands() -> Iterator[str]:
    from keyfold.cli import command, command_names

    yield "\n## Commands\n"
    for name in command_names():
        yield f"- `keyfold {name}`: {command(name).HELP}"


def _summary(value: Any) -> str:
    text = inspect.cleandoc(value.__doc__ or "") if _is_own(value) else ""
    return f": {' '.join(text.partition(chr(10) * 2)[0].split())}" if text else ""


class _Written:
    """An annotation without quotes and module names."""

    def __init__(self, text: str) -> None:
        self.text = re.sub(r"\b(?:keyfold|typing|collections|pydantic)(?:\.\w+)*\.(?=\w)", "", text)

    def __repr__(self) -> str:
        return self.text


def _signature(value: Any) -> str:
    if not _is_own(value):
        return ""
    signature = inspect.signature(value)
    parameters = [
        one.replace(annotation=_as_written(one.annotation))
        for one in signature.parameters.values()
        if one.name != "self"
    ]
    shown = str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
    return shown if len(shown) < LONGEST_SIGNATURE else "(...)"


def _as_written(annotation: Any) -> Any:
    return _Written(annotation) if isinstance(annotation, str) else annotation


def _is_own(value: Any) -> bool:
    return inspect.isclass(value) or inspect.isfunction(value)
