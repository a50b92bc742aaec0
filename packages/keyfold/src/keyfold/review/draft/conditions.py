"""A design's conditions as Python: the name of a field that has a value, or a lambda."""

from __future__ import annotations

from keyfold import literals
from keyfold.design.schema import Condition, EntitySchema
from keyfold.review.draft import names
from keyfold_engine.expressions.ast import (
    And,
    Between,
    Compare,
    Function,
    In,
    Not,
    Operand,
    Or,
    Path,
    Value,
)
from keyfold_engine.values.codec import decode

_PYTHON = {"=": "==", "<>": "!="}
_FUNCTIONS = {"attribute_exists": "exists", "attribute_not_exists": "missing"}


def declared(condition: Condition, entity: EntitySchema) -> str:
    """What `when=` or `where=` is given."""
    terms = condition.terms if isinstance(condition, And) else (condition,)
    present = [_present(term) for term in terms]
    if None not in present:
        quoted = [names.quoted(names.field(field)) for field in present if field]
        return f"({', '.join(quoted)})" if len(quoted) > 1 else quoted[0]
    return f"lambda item: {_python(condition, entity)}"


def _present(condition: Condition) -> str | None:
    match condition:
        case Function("attribute_exists", (Path((str() as field,)),)):
            return field
    return None


def _python(condition: Condition, entity: EntitySchema) -> str:
    match condition:
        case And(terms):
            return " & ".join(f"({_python(term, entity)})" for term in terms)
        case Or(terms):
            return " | ".join(f"({_python(term, entity)})" for term in terms)
        case Not(term):
            return f"not_({_python(term, entity)})"
        case Compare(operator, left, right):
            sign = _PYTHON.get(operator, operator)
            return f"{_operand(left, entity, left)} {sign} {_operand(right, entity, left)}"
        case Between(subject, low, high):
            return f"between({_list((subject, low, high), entity)})"
        case In(subject, options):
            return f"one_of({_list((subject, *options), entity)})"
        case Function(name, arguments):
            return f"{_FUNCTIONS.get(name, name)}({_list(arguments, entity)})"


def _list(operands: tuple[Operand, ...], entity: EntitySchema) -> str:
    return ", ".join(_operand(one, entity, operands[0]) for one in operands)


def _operand(given: Operand, entity: EntitySchema, subject: Operand) -> str:
    match given:
        case Path((first, *inner)):
            steps = (f"[{literals.python(part)}]" for part in inner)
            return "".join([f"item.{names.field(str(first))}", *steps])
        case Value(content):
            field = entity.by_field.get(subject.root) if isinstance(subject, Path) else None
            plain = literals.python(decode(content)) if "N" not in content else content["N"]
            if field is not None and field.type in ("timestamp", "date") and "S" in content:
                kind = "datetime" if field.type == "timestamp" else "date"
                return f"{kind}.fromisoformat({names.quoted(content['S'])})"
            return names.quoted(content["S"]) if "S" in content else plain
    return repr(given)
