"""Trees to expression text: the placeholders of one request and the text that uses them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from keyfold_engine.expressions.ast import (
    Action,
    AddAction,
    And,
    Arithmetic,
    Between,
    Compare,
    Condition,
    DeleteAction,
    Function,
    In,
    KeyTerm,
    NameRef,
    Not,
    Operand,
    Or,
    Path,
    Placeholder,
    RemoveAction,
    SetAction,
    UpdateActions,
    Value,
    ValueRef,
)
from keyfold_engine.values import AttributeValue

_SECTIONS: tuple[tuple[str, type[Action]], ...] = (
    ("SET", SetAction),
    ("REMOVE", RemoveAction),
    ("ADD", AddAction),
    ("DELETE", DeleteAction),
)


class Expressions:
    """Renders the bound trees of one request; every name and value becomes a placeholder.

    Render all expressions of the request with one builder, then put `placeholders` beside them.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._values: dict[str, AttributeValue] = {}

    def condition(self, node: Condition) -> str:
        """The text of a condition or filter."""
        match node:
            case And(terms):
                return " AND ".join(map(self._term, terms))
            case Or(terms):
                return " OR ".join(map(self._term, terms))
            case Not(term):
                return f"NOT {self._term(term)}"
            case Compare(operator, left, right):
                return f"{self._operand(left)} {operator} {self._operand(right)}"
            case Between(operand, low, high):
                return (
                    f"{self._operand(operand)} BETWEEN {self._operand(low)} "
                    f"AND {self._operand(high)}"
                )
            case In(operand, options):
                return f"{self._operand(operand)} IN ({self._operands(options)})"
            case Function():
                return self._call(node)

    def key_condition(self, terms: Iterable[KeyTerm]) -> str:
        """The text of a key condition."""
        return " AND ".join(map(self._key_term, terms))

    def update(self, update: UpdateActions) -> str:
        """The text of an update, one section for each kind of action."""
        sections = []
        for keyword, kind in _SECTIONS:
            actions = [self._action(each) for each in update.actions if isinstance(each, kind)]
            if actions:
                sections.append(f"{keyword} {', '.join(actions)}")
        return " ".join(sections)

    def path(self, path: Path) -> str:
        """The text of a path."""
        text = ""
        for part in path.parts:
            if isinstance(part, int):
                text += f"[{part}]"
            else:
                text += ("." if text else "") + self._name(part)
        return text

    def value(self, value: AttributeValue) -> str:
        """A placeholder for a value."""
        placeholder = f":v{len(self._values)}"
        self._values[placeholder] = value
        return placeholder

    def placeholders(self) -> dict[str, Any]:
        """The members that go into the request beside its expressions."""
        members: dict[str, Any] = {}
        if self._names:
            members["ExpressionAttributeNames"] = {
                placeholder: name for name, placeholder in self._names.items()
            }
        if self._values:
            members["ExpressionAttributeValues"] = dict(self._values)
        return members

    def _term(self, node: Condition) -> str:
        """A part of a larger condition, in parentheses where it needs them."""
        text = self.condition(node)
        return f"({text})" if isinstance(node, (And, Or, Not)) else text

    def _key_term(self, term: KeyTerm) -> str:
        name = self._name(term.name)
        values = [self.value(value) for value in term.values]
        match term.operator:
            case "BETWEEN":
                return f"{name} BETWEEN {values[0]} AND {values[1]}"
            case "begins_with":
                return f"begins_with({name}, {values[0]})"
            case operator:
                return f"{name} {operator} {values[0]}"

    def _action(self, action: Action) -> str:
        path = self.path(action.path)
        match action:
            case RemoveAction():
                return path
            case SetAction(_, value):
                return f"{path} = {self._assigned(value)}"
            case AddAction(_, value) | DeleteAction(_, value):
                return f"{path} {self._operand(value)}"

    def _assigned(self, value: Operand | Arithmetic) -> str:
        if isinstance(value, Arithmetic):
            return f"{self._operand(value.left)} {value.operator} {self._operand(value.right)}"
        return self._operand(value)

    def _operand(self, operand: Operand) -> str:
        match operand:
            case Path():
                return self.path(operand)
            case Function():
                return self._call(operand)
            case Value(content):
                return self.value(content)
            case ValueRef(text) | Placeholder(text):
                return text

    def _operands(self, operands: Iterable[Operand]) -> str:
        return ", ".join(map(self._operand, operands))

    def _call(self, call: Function) -> str:
        return f"{call.function}({self._operands(call.arguments)})"

    def _name(self, name: str | NameRef) -> str:
        if isinstance(name, NameRef):
            return name.text
        return self._names.setdefault(name, f"#n{len(self._names)}")
