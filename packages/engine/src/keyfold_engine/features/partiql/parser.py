"""Parses statements. Parameters are consumed at each `?`."""

from __future__ import annotations

from collections.abc import Sequence

from keyfold_engine.errors import ValidationError
from keyfold_engine.expressions.ast import (
    Action,
    AddAction,
    Arithmetic,
    DeleteAction,
    Function,
    Operand,
    Path,
    RemoveAction,
    SetAction,
    UpdateActions,
    Value,
)
from keyfold_engine.features.partiql.conditions import ConditionParser, refuse_at
from keyfold_engine.features.partiql.cursor import refuse, refuse_parameters
from keyfold_engine.features.partiql.lexer import END
from keyfold_engine.features.partiql.statements import (
    ExistsStatement,
    Insert,
    Ordering,
    Removal,
    Select,
    Statement,
    UpdateStatement,
)
from keyfold_engine.features.partiql.words import FOREIGN_TYPES
from keyfold_engine.values import AttributeValue

_ON_AN_INDEX = "This operation is not supported on an index"
_SIMPLE_PATH = "Expected identifier for simple path"
_RETURNING = {"ALL OLD", "MODIFIED OLD", "ALL NEW", "MODIFIED NEW"}


def parse(statement: str, parameters: Sequence[AttributeValue] | None = None) -> Statement:
    """The statement, with its parameters in place of the question marks."""
    return _Parser(statement, parameters or ()).statement()


class _Parser(ConditionParser):
    """A recursive-descent parser for one statement."""

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
        """Refuse a statement that is a type test."""
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
            columns = self._comma_list(lambda: self._column(refused))
            paths = tuple(column for column in columns if column is not None)
        if not self._take("FROM"):
            refuse("Expected FROM after SELECT list")
        table, index = self._source()
        where = self._where()
        order: tuple[Ordering, ...] = ()
        if self._take("ORDER"):
            self._expect("BY")
            order = tuple(self._comma_list(self._ordering))
        return Select(table, index, paths, where, order, refused[0] if refused else None)

    def _column(self, refused: list[str]) -> Path | None:
        """A path; a function is refused only after all errors of the text."""
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
        """The table that a statement writes to; it cannot be an index."""
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
            actions += self._comma_list(self._assignment if keyword == "SET" else self._removal)
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
        left = self._parse_assigned()
        if self._token.kind in ("+", "-"):
            return SetAction(path, Arithmetic(self._next().kind, left, self._parse_assigned()))
        return SetAction(path, left)

    def _set_change(self, path: Path, kind: type[AddAction] | type[DeleteAction]) -> Action:
        function = self._next()
        name = function.text.upper()
        self._expect("(")
        first = self._token
        arguments = self._until(")", self._operand)
        if len(arguments) != 2:
            refuse_at(f"{name} must have exactly two arguments", self._place(function))
        target, members = arguments
        if target != path:
            reason = f"The first argument to {name} must equal the assignment value"
            refuse_at(reason, self._place(function))
        if not isinstance(members, Value) or members.kind not in ("SS", "NS", "BS"):
            reason = f"The second argument to {name} must be a value with type SET"
            refuse_at(reason, self._place(first))
        return kind(path, members)

    def _parse_assigned(self) -> Operand:
        if self._is_call():
            name = self._next().text.lower()
            if name not in ("list_append", "if_not_exists"):
                refuse(f"Unexpected function: {name}")
            self._expect("(")
            self._deeper()
            arguments = tuple(self._comma_list(self._parse_assigned))
            self._depth -= 1
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


def _only_all_old(returning: str | None) -> str | None:
    if returning not in (None, "ALL_OLD"):
        raise ValidationError(
            f"Invalid returning clause: RETURNING {returning.replace('_', ' ')} *. Only RETURNING "
            "ALL OLD * is allowed in DELETE statements."
        )
    return returning
