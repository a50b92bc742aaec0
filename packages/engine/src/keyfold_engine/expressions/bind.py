"""Resolves placeholders: parsed trees become bound ones; unused placeholders are reported."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NoReturn

from keyfold_engine.errors import RequestInvalid, ValidationError
from keyfold_engine.expressions import operand_check, parser, text_check
from keyfold_engine.expressions.ast import (
    Action,
    AddAction,
    Condition,
    DeleteAction,
    Function,
    NameRef,
    Path,
    Placeholder,
    Projection,
    RemoveAction,
    SetAction,
    UpdateActions,
    Value,
    ValueRef,
    mapped,
)
from keyfold_engine.expressions.keys import KeyCondition
from keyfold_engine.expressions.update import UpdatePlan
from keyfold_engine.limits import PLACEHOLDER_BYTES
from keyfold_engine.values import AttributeValue
from keyfold_engine.values.wire import check_name, check_value

_LENGTH_WORTH_COUNTING = 1024
_NAME = re.compile(r"#[A-Za-z0-9_]+").fullmatch
_VALUE = re.compile(r":[A-Za-z0-9_]+").fullmatch


class Placeholders:
    """The ExpressionAttributeNames of one request, and what stands for its attribute values.

    Bind every expression of the request, then call `check_used`.
    """

    def __init__(
        self,
        names: Mapping[str, str] | None = None,
        operands: Mapping[str, Value | Placeholder] | None = None,
    ) -> None:
        check_names(names)
        check_placeholders(operands)
        self._names, self._operands = names or {}, operands or {}
        self._used_names: set[str] = set()
        self._used_values: set[str] = set()

    @classmethod
    def with_literals(
        cls, names: Mapping[str, str] | None, values: Mapping[str, AttributeValue] | None
    ) -> Placeholders:
        """Those of a request, with its values themselves in the place of placeholders."""
        check_names(names)
        return cls(names, None if values is None else as_literals(checked_values(values)))

    def condition(self, text: str, parameter: str = "ConditionExpression") -> Condition:
        """A condition or filter."""
        return self._binder(parameter).condition(parser.condition(text, parameter))

    def key_condition(self, text: str) -> KeyCondition:
        """A key condition, whose terms the values complete."""
        return KeyCondition(self.condition(text, "KeyConditionExpression"))

    def update(self, text: str) -> UpdatePlan:
        """An update, to be applied with the values."""
        return UpdatePlan(self._binder("UpdateExpression").update(parser.update(text)))

    def projection(self, text: str) -> Projection:
        """A projection, ready for `projection.project`."""
        binder = self._binder("ProjectionExpression")
        paths = tuple(binder.path(path) for path in parser.projection(text))
        operand_check.check_overlap(paths, "ProjectionExpression")
        return paths

    def check_used(self) -> None:
        """Refuse placeholders that no expression used."""
        if len(self._used_names) < len(self._names):
            _refuse_unused("ExpressionAttributeNames", self._names, self._used_names)
        if len(self._used_values) < len(self._operands):
            _refuse_unused("ExpressionAttributeValues", self._operands, self._used_values)

    def _binder(self, parameter: str) -> _Binder:
        return _Binder(parameter, self._names, self._operands, self._used_names, self._used_values)


class _Binder:
    def __init__(
        self,
        parameter: str,
        names: Mapping[str, str],
        values: Mapping[str, Value | Placeholder],
        used_names: set[str],
        used_values: set[str],
    ) -> None:
        self._parameter = parameter
        self._names, self._values = names, values
        self.used_names, self.used_values = used_names, used_values

    def condition(self, node: Condition) -> Condition:
        bound: Condition = self._bound(node)
        return bound

    def update(self, update: UpdateActions) -> UpdateActions:
        # DynamoDB compares the paths first, then checks values from the last action back.
        targets = [self.path(action.path) for action in update.actions]
        operand_check.check_overlap(targets, self._parameter)
        pairs = zip(reversed(update.actions), reversed(targets), strict=True)
        bound = [self._action(action, target) for action, target in pairs]
        return UpdateActions(tuple(reversed(bound)), update.type_mismatch)

    def _action(self, action: Action, target: Path) -> Action:
        bound: Action
        match action:
            case SetAction(_, value):
                return SetAction(target, self._bound(value))
            case RemoveAction():
                return RemoveAction(target)
            case AddAction(_, value):
                bound = AddAction(target, self._value(value))
            case DeleteAction(_, value):
                bound = DeleteAction(target, self._value(value))
        operand_check.check_action(bound, self._parameter)
        return bound

    def _bound(self, node: Any) -> Any:
        """A condition or operand with names and values for its placeholders, checked."""
        if isinstance(node, Path):
            return self.path(node)
        if isinstance(node, ValueRef):
            return self._value(node)
        if isinstance(node, Function):
            text_check.check_arity(node, self._parameter)
        bound = mapped(node, self._bound)
        check = operand_check.CHECKS.get(type(bound))
        if check is not None:
            check(bound, self._parameter)
        return bound

    def _value(self, value: Value | ValueRef | Placeholder) -> Value | Placeholder:
        if not isinstance(value, ValueRef):
            return value
        bound = self._values.get(value.text)
        if bound is None:
            text_check.refuse(
                self._parameter,
                "An expression attribute value used in expression is not defined; "
                f"attribute value: {value.text}",
            )
        self.used_values.add(value.text)
        return bound

    def path(self, path: Path) -> Path:
        operand_check.check_depth(path, self._parameter)
        for part in path.parts:
            if isinstance(part, NameRef):
                return Path(tuple(map(self._part, path.parts)))
        return path

    def _part(self, part: str | int | NameRef) -> str | int:
        if not isinstance(part, NameRef):
            return part
        name = self._names.get(part.text)
        if name is None:
            text_check.refuse(
                self._parameter,
                "An expression attribute name used in the document path is not defined; "
                f"attribute name: {part.text}",
            )
        self.used_names.add(part.text)
        return name


def check_names(names: Mapping[str, str] | None) -> None:
    """Refuse names that DynamoDB refuses."""
    if names is None:
        return
    if not names:
        raise RequestInvalid("ExpressionAttributeNames must not be empty")
    for placeholder, name in names.items():
        if not _NAME(placeholder) or len(placeholder) > PLACEHOLDER_BYTES:
            _refuse_placeholder("ExpressionAttributeNames", placeholder)
        if not name or len(name) > _LENGTH_WORTH_COUNTING:
            _check_name(placeholder, name)


def _check_name(placeholder: str, name: str) -> None:
    try:
        check_name(name)
    except RequestInvalid as error:
        raise RequestInvalid(
            f"ExpressionAttributeNames contains invalid value: {error.message} "
            f"for key {placeholder}"
        ) from None


def check_placeholders(values: Mapping[str, object] | None) -> None:
    """Refuse placeholders of values that DynamoDB refuses."""
    if values is None:
        return
    if not values:
        raise RequestInvalid("ExpressionAttributeValues must not be empty")
    for placeholder in values:
        if not _VALUE(placeholder) or len(placeholder) > PLACEHOLDER_BYTES:
            _refuse_placeholder("ExpressionAttributeValues", placeholder)


def checked_values(
    values: Mapping[str, AttributeValue], *, deeper: bool = False
) -> Mapping[str, AttributeValue]:
    """The values in normal form; where they may be `deeper`, with a level more than is stored."""
    check_placeholders(values)
    checked, depth = {}, -1 if deeper else 0
    for placeholder, value in values.items():
        try:
            checked[placeholder] = check_value(value, depth)
        except ValidationError as error:
            raise _name_placeholder(error, placeholder) from None
    return checked


def as_literals(values: Mapping[str, AttributeValue]) -> dict[str, Value]:
    return {placeholder: Value(content) for placeholder, content in values.items()}


def _name_placeholder(error: ValidationError, placeholder: str) -> ValidationError:
    """An error about a value with its placeholder; the newer wording leaves that out."""

    def wrapped(reason: str) -> str:
        return f"ExpressionAttributeValues contains invalid value: {reason} for key {placeholder}"

    if not isinstance(error, RequestInvalid):
        return ValidationError(wrapped(error.message))
    older = None if error.older is None else wrapped(error.older)
    return RequestInvalid(wrapped(error.message), error.newer or error.message, older)


def _refuse_placeholder(parameter: str, placeholder: str) -> NoReturn:
    size = len(placeholder.encode())
    if size > PLACEHOLDER_BYTES:
        raise RequestInvalid(
            f"{parameter} contains invalid key: The expression attribute map contains a key that "
            f"is too long; size of key: {size}"
        )
    raise RequestInvalid(f'{parameter} contains invalid key: Syntax error; key: "{placeholder}"')


def _refuse_unused(parameter: str, given: Mapping[str, object], used: set[str]) -> None:
    unused = _hash_set_order([key for key in given if key not in used], len(given))
    raise RequestInvalid(
        f"Value provided in {parameter} unused in expressions: keys: {{{', '.join(unused)}}}"
    )


def _hash_set_order(keys: list[str], total: int) -> list[str]:
    """The iteration order of a Java HashSet, in which DynamoDB lists unused keys."""
    slots = 16
    while slots <= total / 0.75:
        slots *= 2
    return sorted(keys, key=lambda key: _java_hash(key) & (slots - 1))


def _java_hash(text: str) -> int:
    code = 0
    for character in text:
        code = (31 * code + ord(character)) & 0xFFFFFFFF
    return code ^ (code >> 16)
