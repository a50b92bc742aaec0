"""Expressions, read by recursive descent from the grammar in the developer guide."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from tests.reference.values import Refused, Value, Wire, as_wire, invalid, parsed, sortable

# A sample of the 573: what the generator can write.
RESERVED = frozenset({"name", "status", "size", "count", "values", "date", "year", "table"})
TOKEN = re.compile(r"\s*(?:([:#]?[A-Za-z0-9_]+)|(<>|<=|>=|[=<>(),.\[\]+-]))")
COMPARATORS = ("=", "<>", "<", "<=", ">", ">=")
FUNCTIONS = {
    "attribute_exists": 1,
    "attribute_not_exists": 1,
    "attribute_type": 2,
    "begins_with": 2,
    "contains": 2,
    "size": 1,
}
TYPES = ("S", "N", "B", "SS", "NS", "BS", "L", "M", "BOOL", "NULL")
Step = str | int
Found = TypeVar("Found")


@dataclass(frozen=True)
class Path:
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return "[" + ", ".join(f"[{s}]" if isinstance(s, int) else s for s in self.steps) + "]"


@dataclass(frozen=True, eq=False)
class Literal:
    value: Value


@dataclass(frozen=True)
class Node:
    """``op`` is a comparator, ``between``, ``in``, ``and``, ``or``, ``not``, a function, + or -."""

    op: str
    args: tuple[Any, ...]


@dataclass
class Update:
    SET: list[tuple[Path, Any]] = field(default_factory=list)
    REMOVE: list[Path] = field(default_factory=list)
    ADD: list[tuple[Path, Value]] = field(default_factory=list)
    DELETE: list[tuple[Path, Value]] = field(default_factory=list)

    clauses: list[str] = field(default_factory=list)

    def paths(self) -> list[Path]:
        """In the order of the text, as dynalite's author saw it in messages."""
        return [
            entry if isinstance(entry, Path) else entry[0]
            for clause in self.clauses
            for entry in getattr(self, clause)
        ]


class Expressions:
    """The expressions of one request, with its placeholders."""

    def __init__(self, request: Wire) -> None:
        self.names: dict[str, str] = request.get("ExpressionAttributeNames") or {}
        given = request.get("ExpressionAttributeValues") or {}
        self.literals = {name: parsed(wire, 1) for name, wire in given.items()}
        self.used: set[str] = set()
        self.paths: list[Path] = []
        self.kind = ""
        self.tokens: list[str] = []
        self.at = 0

    def condition(self, kind: str, text: str) -> Node:
        return self._whole(kind, text, self._either)

    def projection(self, text: str) -> list[Path]:
        paths = self._whole("ProjectionExpression", text, lambda: self._listed(self._path))
        self._apart(paths)
        return paths

    def update(self, text: str) -> Update:
        update = self._whole("UpdateExpression", text, self._clauses)
        self._apart(update.paths())
        return update

    def finish(self) -> None:
        """What no expression used is refused."""
        if not self.kind and (self.names or self.literals):
            raise invalid()
        for member, given in (
            ("ExpressionAttributeNames", self.names),
            ("ExpressionAttributeValues", self.literals),
        ):
            unused = sorted(set(given) - self.used)
            if unused:
                listed = ", ".join(unused)
                words = f"Value provided in {member} unused in expressions: keys: {{{listed}}}"
                raise invalid(words if len(unused) == 1 else None)

    def _whole(self, kind: str, text: str, read: Callable[[], Found]) -> Found:
        self.kind, self.tokens, self.at = kind, [], 0
        if not text:
            raise self.wrong("The expression can not be empty;")
        position = 0
        while text[position:].strip():
            match = TOKEN.match(text, position)
            if match is None:
                raise invalid()
            self.tokens.append(match[1] or match[2])
            position = match.end()
        found = read()
        if self.at < len(self.tokens):
            raise invalid()
        return found

    def wrong(self, reason: str) -> Refused:
        return invalid(f"Invalid {self.kind}: {reason}")

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _take(self, *wanted: str) -> str:
        token = self._peek()
        if token and (not wanted or token.upper() in wanted):
            self.at += 1
            return token
        raise invalid()

    def _comes(self, *wanted: str) -> bool:
        if self._peek().upper() in wanted:
            self.at += 1
            return True
        return False

    def _listed(self, read: Callable[[], Found]) -> list[Found]:
        found = [read()]
        while self._comes(","):
            found.append(read())
        return found

    def _either(self) -> Node:
        left = self._both()
        while self._comes("OR"):
            left = Node("or", (left, self._both()))
        return left

    def _both(self) -> Node:
        left = self._negated()
        while self._comes("AND"):
            left = Node("and", (left, self._negated()))
        return left

    def _negated(self) -> Node:
        if self._comes("NOT"):
            return Node("not", (self._negated(),))
        if self._comes("("):
            inside = self._either()
            self._take(")")
            return inside
        return self._comparison()

    def _comparison(self) -> Node:
        left = self._operand()
        if isinstance(left, Node) and left.op != "size":
            return left
        if self._comes("BETWEEN"):
            low = self._operand()
            self._take("AND")
            found = Node("between", (left, low, self._operand()))
        elif self._comes("IN"):
            self._take("(")
            found = Node("in", (left, *self._listed(self._operand)))
            self._take(")")
        else:
            found = Node(self._take(*COMPARATORS), (left, self._operand()))
        self._check_operands(found)
        return found

    def _operand(self) -> Any:
        token = self._peek()
        following = self.tokens[self.at + 1 : self.at + 2]
        if token[:1] == ":":
            self.at += 1
            return self._literal(token)
        if following != ["("] or token[:1] == "#":
            return self._path()
        self.at += 2
        arguments = tuple(self._listed(self._operand))
        self._take(")")
        if token not in FUNCTIONS:
            raise self.wrong(f"Invalid function name; function: {token}")
        if len(arguments) != FUNCTIONS[token]:
            raise self.wrong(
                "Incorrect number of operands for operator or function; "
                f"operator or function: {token}, number of operands: {len(arguments)}"
            )
        call = Node(token, arguments)
        self._check_call(call)
        return call

    def _literal(self, token: str) -> Literal:
        if token not in self.literals:
            raise self.wrong(
                "An expression attribute value used in expression is not defined; "
                f"attribute value: {token}"
            )
        self.used.add(token)
        return Literal(self.literals[token])

    def _path(self) -> Path:
        steps: list[Step] = [self._name()]
        while True:
            if self._comes("."):
                steps.append(self._name())
            elif self._comes("["):
                steps.append(int(self._take()))
                self._take("]")
            else:
                self.paths.append(Path(tuple(steps)))
                return self.paths[-1]

    def _name(self) -> str:
        token = self._take()
        if token[0] == "#":
            if token not in self.names:
                raise self.wrong(
                    "An expression attribute name used in the document path is not defined; "
                    f"attribute name: {token}"
                )
            self.used.add(token)
            return self.names[token]
        if not token[0].isalpha():
            raise invalid()
        if token.lower() in RESERVED:
            raise self.wrong(f"Attribute name is a reserved keyword; reserved keyword: {token}")
        return token

    def _check_call(self, call: Node) -> None:
        name, arguments = call.op, call.args
        if name in ("attribute_exists", "attribute_not_exists") and not isinstance(
            arguments[0], Path
        ):
            raise self.wrong(
                f"Operator or function requires a document path; operator or function: {name}"
            )
        if name in ("begins_with", "contains"):
            self._check_distinct(call)
        if name == "attribute_type" and isinstance(arguments[1], Literal):
            kind, held = arguments[1].value
            if kind != "S":
                raise self._wrong_type(call, kind)
            if held not in TYPES:
                raise invalid()
        if name == "begins_with" and isinstance(arguments[1], Literal):
            kind = arguments[1].value[0]
            if kind not in ("S", "B"):
                raise self._wrong_type(call, kind)
        if name == "size" and isinstance(arguments[0], Literal):
            kind = arguments[0].value[0]
            if kind in ("N", "BOOL", "NULL"):
                raise self._wrong_type(call, kind)

    def _wrong_type(self, node: Node, kind: str) -> Refused:
        return self.wrong(
            "Incorrect operand type for operator or function; "
            f"operator or function: {node.op}, operand type: {kind}"
        )

    def _check_distinct(self, node: Node) -> None:
        first = node.args[0]
        if isinstance(first, Path) and first in node.args[1:]:
            raise (
                self.wrong(
                    "The first operand must be distinct from the remaining operands for this "
                    f"operator or function; operator: {node.op.upper()}, first operand: {first}"
                    if node.op in COMPARATORS
                    else "The first operand must be distinct from the remaining operands for this "
                    f"operator or function; operator: {node.op}, first operand: {first}"
                )
                if node.op in COMPARATORS
                else invalid()
            )

    def _check_operands(self, node: Node) -> None:
        self._check_distinct(node)
        if node.op in ("<", "<=", ">", ">=", "between"):
            for each in node.args:
                if isinstance(each, Literal) and each.value[0] not in ("S", "N", "B"):
                    raise (
                        invalid() if node.op == "between" else self._wrong_type(node, each.value[0])
                    )
        if node.op == "between":
            _, low, high = node.args
            if isinstance(low, Literal) and isinstance(high, Literal):
                self._check_bounds(low.value, high.value)
        if node.op == "in" and len(node.args) > 101:
            raise invalid()

    def _check_bounds(self, low: Value, high: Value) -> None:
        if low[0] != high[0]:
            raise invalid()
        if sortable(low) > sortable(high):
            raise self.wrong(
                "The BETWEEN operator requires upper bound to be greater than or equal to lower "
                f"bound; lower bound operand: AttributeValue: {shown(low)}, "
                f"upper bound operand: AttributeValue: {shown(high)}"
            )

    def _clauses(self) -> Update:
        update = Update()
        while self._peek():
            clause = self._take("SET", "REMOVE", "ADD", "DELETE").upper()
            if clause in update.clauses:
                raise self.wrong(
                    f'The "{clause}" section can only be used once in an update expression;'
                )
            update.clauses.append(clause)
            if clause == "SET":
                update.SET = self._listed(self._assignment)
            elif clause == "REMOVE":
                update.REMOVE = self._listed(self._path)
            else:
                setattr(update, clause, self._listed(partial(self._amount, clause)))
        return update

    def _assignment(self) -> tuple[Path, Any]:
        path = self._path()
        self._take("=")
        left = self._term()
        if self._peek() in ("+", "-"):
            left = Node(self._take(), (left, self._term()))
            self._check_literals(left, "N")
        return path, left

    def _term(self) -> Any:
        token = self._peek()
        if token[:1] == ":":
            self.at += 1
            return self._literal(token)
        if token not in ("if_not_exists", "list_append"):
            if self.tokens[self.at + 1 : self.at + 2] == ["("] and token[:1] != "#":
                raise invalid()
            return self._path()
        self.at += 1
        self._take("(")
        first = self._path() if token == "if_not_exists" else self._term()
        self._take(",")
        call = Node(token, (first, self._term()))
        self._take(")")
        if token == "list_append":
            self._check_literals(call, "L")
        return call

    def _check_literals(self, node: Node, wanted: str) -> None:
        for each in node.args:
            if isinstance(each, Literal) and each.value[0] != wanted:
                raise self._wrong_type(node, each.value[0])

    def _amount(self, clause: str) -> tuple[Path, Value]:
        path = self._path()
        if self._peek()[:1] != ":":
            raise invalid()
        value = self._literal(self._take()).value
        allowed = ("SS", "NS", "BS") if clause == "DELETE" else ("N", "SS", "NS", "BS")
        if value[0] not in allowed:
            raise invalid()
        return path, value

    def _apart(self, paths: list[Path]) -> None:
        """No path may be part of another, nor call the same thing once a list and once a map."""
        for index, one in enumerate(paths):
            for two in paths[index + 1 :]:
                shared = list(zip(one.steps, two.steps, strict=False))
                differing = [pair for pair in shared if pair[0] != pair[1]]
                reason = ""
                if not differing:
                    reason = "overlap"
                elif isinstance(differing[0][0], int) != isinstance(differing[0][1], int):
                    reason = "conflict"
                if reason:
                    raise self.wrong(
                        f"Two document paths {reason} with each other; must remove or rewrite one "
                        f"of these paths; path one: {one}, path two: {two}"
                    )


def shown(value: Value) -> str:
    ((kind, held),) = as_wire(value).items()
    return f"{{{kind}:{held}}}"
