"""Statement text to statements. Parameters are taken as their `?` are met."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from keyfold.engine.partiql.cursor import Cursor, refuse, refuse_parameters
from keyfold.engine.partiql.lexer import END
from keyfold.engine.partiql.statements import (
    ExistsStatement,
    Insert,
    Ordering,
    Removal,
    Select,
    Statement,
    UpdateStatement,
)
from keyfold.engine.partiql.words import FOREIGN_TYPES, TYPES
from keyfold.errors import ValidationError
from keyfold.expressions import check
from keyfold.expressions.ast import (
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
    Not,
    Operand,
    Path,
    Placeholder,
    RemoveAction,
    SetAction,
    UpdateActions,
    Value,
    ValueRef,
)
from keyfold.expressions.logic import Logic
from keyfold.limits import IN_OPERANDS
from keyfold.values import AttributeValue

_COMPARATORS = {"=": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_ON_AN_INDEX = "This operation is not supported on an index"
_SIMPLE_PATH = "Expected identifier for simple path"
_RETURNING = {"ALL OLD", "MODIFIED OLD", "ALL NEW", "MODIFIED NEW"}


def parse(statement: str, parameters: Sequence[AttributeValue] | None = None) -> Statement:
    """The statement, with its parameters in place of the question marks."""
    return _Parser(statement, parameters or ()).statement()


class _Parser(Cursor, Logic):
    """Recursive descent over the tokens of one statement."""

    def __init__(self, statement: str, parameters: Sequence[AttributeValue]) -> None:
        super().__init__(statement, parameters)
        # What is wrong with a statement that can be read to its end.
        self._complaint: str | None = None

    def statement(self) -> Statement:
        found = self._statement()
        self._take(";")
        if not self._stands_at(END):
            refuse("Unexpected token after expression")
        if self._taken != len(self._parameters):
            refuse_parameters()
        if self._complaint is not None:
            raise ValidationError(self._complaint)
        return found

    def _statement(self) -> Statement:
        match self._next().kind:
            case "SELECT":
                return self._select()
            case "INSERT":
                self._expect("INTO")
                table = self._target("FROM clause may only contain a single table name")
                if self._stands_at("identifier"):
                    refuse("Unexpected token after expression")
                self._expect("VALUE")
                return Insert(table, self._item())
            case "UPDATE":
                return self._update()
            case "FROM":
                return self._update_from()
            case "DELETE":
                if not self._take("FROM"):
                    refuse("Expected FROM after DELETE")
                table, where = self._table(), self._where()
                return Removal(table, where, _only_all_old(self._returning()))
            case "EXISTS":
                self._expect("(")
                self._expect("SELECT")
                select = self._select()
                self._expect(")")
                return ExistsStatement(select)
        self._refuse_type_test()
        return refuse("Expected data manipulation")

    def _refuse_type_test(self) -> None:
        """A statement that is a question: whether something is of a type."""
        self._at = 0
        if self._token.kind in ("identifier", "quoted"):
            self._path()
            if self._take("IS"):
                words = [token.text.upper() for token in self._tokens[self._at : -1]]
                if " ".join(words) in FOREIGN_TYPES:
                    raise ValidationError("Unsupported operation: IsType")

    def _select(self) -> Select:
        paths = None
        refused: list[str] = []
        if not self._take("*"):
            columns = self._separated(lambda: self._column(refused))
            paths = tuple(column for column in columns if column is not None)
        if not self._take("FROM"):
            refuse("Expected FROM after SELECT list")
        table, index = self._source()
        where = self._where()
        order: tuple[Ordering, ...] = ()
        if self._take("ORDER"):
            self._expect("BY")
            order = tuple(self._separated(self._ordering))
        return Select(table, index, paths, where, order, refused[0] if refused else None)

    def _column(self, refused: list[str]) -> Path | None:
        """A path; a function is refused later than all that is wrong with the text."""
        if not self._is_call():
            return self._path()
        refused.append(f"Unexpected path component at {self._place(self._token)}")
        opened = 0
        while not self._stands_at(END):
            kind = self._next().kind
            opened += (kind == "(") - (kind == ")")
            if kind == ")" and not opened:
                return None
        return refuse("Unexpected end of statement")

    def _source(self) -> tuple[str, str | None]:
        components = self._components(None)
        if "" in components:
            raise ValidationError("Path component cannot be an empty string")
        if len(components) > 2:
            raise ValidationError("A path may contain at most 2 components in the FROM clause")
        self._refuse_alias()
        return components[0], components[1] if len(components) > 1 else None

    def _target(self, if_index: str) -> str:
        """The table that a statement writes to; it may not write to an index."""
        components = self._components(_SIMPLE_PATH)
        if len(components) > 1:
            self._complaint = if_index
        return components[0]

    def _components(self, reason: str | None) -> list[str]:
        components = [self._name(reason)]
        while self._take("."):
            components.append(self._name("Invalid path dot component"))
        return components

    def _ordering(self) -> Ordering:
        name = self._name()
        if self._take("DESC"):
            return Ordering(name, descending=True)
        self._take("ASC")
        return Ordering(name, descending=False)

    def _table(self) -> str:
        name = self._target(_ON_AN_INDEX)
        self._refuse_alias()
        return name

    def _refuse_alias(self) -> None:
        if self._token.kind in ("identifier", "quoted", "AS"):
            raise ValidationError("Aliasing is not supported")

    def _update(self) -> UpdateStatement:
        table, update = self._table(), self._actions()
        where = self._where()
        return UpdateStatement(table, update, where, self._returning())

    def _update_from(self) -> UpdateStatement:
        table, where = self._table(), self._where()
        update = self._actions()
        return UpdateStatement(table, update, where, self._returning())

    def _actions(self) -> UpdateActions:
        actions: list[Action] = []
        while self._token.kind in ("SET", "REMOVE"):
            keyword = self._next().kind
            actions += self._separated(self._assignment if keyword == "SET" else self._removal)
        if not actions:
            refuse("Expected data manipulation")
        return UpdateActions(tuple(actions))

    def _removal(self) -> Action:
        return RemoveAction(self._path(_SIMPLE_PATH))

    def _assignment(self) -> Action:
        path = self._path(_SIMPLE_PATH)
        self._expect("=")
        if self._is_call():
            name = self._token.text.lower()
            if name in ("set_add", "set_delete"):
                return self._set_change(path, AddAction if name == "set_add" else DeleteAction)
        left = self._assigned()
        if self._token.kind in ("+", "-"):
            return SetAction(path, Arithmetic(self._next().kind, left, self._assigned()))
        return SetAction(path, left)

    def _set_change(self, path: Path, kind: type[AddAction] | type[DeleteAction]) -> Action:
        function = self._next()
        name = function.text.upper()
        self._expect("(")
        first = self._token
        arguments = self._until(")", self._operand)
        if len(arguments) != 2:
            _refuse(f"{name} must have exactly two arguments", self._place(function))
        target, members = arguments
        if target != path:
            reason = f"The first argument to {name} must equal the assignment value"
            _refuse(reason, self._place(function))
        if not isinstance(members, Value) or members.kind not in ("SS", "NS", "BS"):
            reason = f"The second argument to {name} must be a value with type SET"
            _refuse(reason, self._place(first))
        return kind(path, members)

    def _assigned(self) -> Operand:
        if self._is_call():
            name = self._next().text.lower()
            if name not in ("list_append", "if_not_exists"):
                refuse(f"Unexpected function: {name}")
            self._expect("(")
            arguments = tuple(self._separated(self._assigned))
            self._expect(")")
            if len(arguments) != 2:
                refuse(f"Wrong number of arguments for function: {name}")
            return Function(name, arguments)
        return self._operand()

    def _returning(self) -> str | None:
        if not self._take("RETURNING"):
            return None
        words = f"{self._next().text} {self._next().text}".upper()
        if words not in _RETURNING:
            refuse("Unexpected RETURNING clause")
        self._expect("*")
        return words.replace(" ", "_")

    # Conditions.

    def _where(self) -> Condition | None:
        if not self._take("WHERE"):
            return None
        return self._require_condition(self._alternatives())

    def _comparison(self) -> Condition | Operand:
        left: Condition | Operand
        if self._take("("):
            self._deeper()
            left = self._alternatives()
            self._depth -= 1
            self._expect(")")
        else:
            left = self._operand()
        if not isinstance(left, (Path, Value, Function)):
            return left
        token = self._token
        if isinstance(left, Function) and left.function != "size" and self._take("="):
            return left if self._truth() else Not(left)
        if token.kind in _COMPARATORS:
            self._next()
            return _compared(_COMPARATORS[token.kind], _valued(left), self._valued())
        if token.kind == "BETWEEN":
            self._next()
            low = self._valued()
            self._expect("AND")
            if self._stands_at(END):
                refuse("Expected expression after AND")
            between = Between(_valued(left), low, self._valued())
            check.operands_of_between(between, "")
            return between
        if token.kind == "IN":
            self._next()
            return In(_valued(left), self._options())
        if token.kind == "IS":
            self._next()
            return self._is(_valued(left))
        return left

    def _truth(self) -> bool:
        """What a function is said to be."""
        token = self._next()
        if token.kind not in ("TRUE", "FALSE"):
            refuse("Unexpected term")
        return token.kind == "TRUE"

    def _options(self) -> tuple[Operand, ...]:
        closing = "]" if self._take("[") else ")"
        if closing == ")":
            self._expect("(")
        options = self._separated(self._valued)
        self._expect(closing)
        if len(options) > IN_OPERANDS:
            self._complaint = (
                "The IN operator is provided with too many operands; number of operands: "
                f"{len(options)}"
            )
        return tuple(options)

    def _is(self, operand: Operand) -> Condition:
        negated = self._take("NOT")
        condition: Condition
        if self._take("MISSING"):
            condition = Function("attribute_not_exists", (operand,))
        elif (kind := TYPES.get(self._token.text.upper())) is not None:
            self._next()
            condition = Function("attribute_type", (operand, Value({"S": kind})))
        elif not self._take("NULL"):
            refuse("Expected type name")
        else:
            condition = Compare("=", operand, Value({"NULL": True}))
        return Not(condition) if negated else condition

    def _require_condition(self, node: Condition | Operand) -> Condition:
        if isinstance(node, (Path, Value, ValueRef, Placeholder)) or (
            isinstance(node, Function) and node.function == "size"
        ):
            refuse("Unexpected term")
        return node

    # Operands and values.

    def _operand(self) -> Operand:
        if self._is_call():
            return self._function()
        if self._token.kind in ("identifier", "quoted"):
            return self._path()
        return Value(self._value())

    def _valued(self) -> Operand:
        return _valued(self._operand())

    def _function(self) -> Operand:
        token = self._next()
        name = token.text.lower()
        if name not in check.CONDITION_FUNCTIONS and name not in check.OPERAND_FUNCTIONS:
            _refuse(f"Unrecognized function: {name}", self._place(token))
        self._expect("(")
        call = Function(name, tuple(self._until(")", self._valued)))
        check.arity(call, "")
        check.operands_of_call(call, "")
        return call

    def _path(self, reason: str | None = None) -> Path:
        parts: list[Any] = [self._name(reason)]
        while True:
            if self._take("."):
                parts.append(self._name("Invalid path dot component"))
            elif self._take("["):
                token = self._next()
                if token.kind == "number" and token.text.isdecimal():
                    parts.append(int(token.text))
                elif token.kind == "text":
                    parts.append(token.text)
                else:
                    refuse("Unexpected path component")
                self._expect("]")
            else:
                return Path(tuple(parts))

    def _name(self, reason: str | None = None) -> str:
        """A name, quoted or not; for anything else the reason to refuse it."""
        token = self._token
        if token.kind not in ("identifier", "quoted"):
            if reason is None:
                self._misplaced()
            refuse(reason)
        return self._next().text


def _refuse(reason: str, place: str) -> NoReturn:
    raise ValidationError(f"{reason} at {place}")


def _only_all_old(returning: str | None) -> str | None:
    if returning not in (None, "ALL_OLD"):
        raise ValidationError(
            f"Invalid returning clause: RETURNING {returning.replace('_', ' ')} *. Only RETURNING "
            "ALL OLD * is allowed in DELETE statements."
        )
    return returning


def _valued(operand: Operand) -> Operand:
    """An operand that has a value; of the functions only size has one."""
    if isinstance(operand, Function) and operand.function != "size":
        refuse(f"Unexpected function: {operand.function}")
    return operand


def _compared(operator: str, left: Operand, right: Operand) -> Condition:
    comparison = Compare(operator, left, right)
    check.operands_of_comparison(comparison, "")
    if operator != "<>":
        return comparison
    # Unlike in expressions, a missing attribute differs from nothing here.
    there = [
        Function("attribute_exists", (each,)) for each in (left, right) if isinstance(each, Path)
    ]
    return And((*there, comparison)) if there else comparison
