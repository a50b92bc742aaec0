"""Policy documents: parsed, validated, and rendered in DynamoDB's canonical form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import orjson

from keyfold_engine.errors import INVALID_PARAMETER as _INVALID
from keyfold_engine.errors import ValidationError, parameter_invalid
from keyfold_engine.features.policies.decision import OPERATORS, base_operator, like
from keyfold_engine.limits import POLICY_BYTES

_DOCUMENT = f"{_INVALID}Invalid policy document: "
_MEMBERS = ("Sid", "Effect", "Principal", "Action", "Resource", "Condition")
_ACCOUNT = re.compile(r"\d{12}").fullmatch
_PRINCIPAL = re.compile(
    r"\*|arn:aws[^:]*:(iam|sts)::\d{12}:(root|(user|role|assumed-role)/.+)|[a-z0-9.-]+\.amazonaws\.com"
).fullmatch
_KEYS = frozenset(
    (
        "aws:principalarn", "aws:principalaccount", "aws:sourceip", "aws:username",
        "dynamodb:leadingkeys", "dynamodb:attributes", "dynamodb:select",
    )
)  # fmt: skip


@dataclass(frozen=True)
class ResourcePolicy:
    """A valid policy; `text` is its canonical form."""

    text: str
    statements: tuple[Mapping[str, Any], ...]


def read(text: str, resource: str, actions: Iterable[str]) -> ResourcePolicy:
    """The policy of a resource; `actions` are the allowed action names."""
    if len(text.encode()) > POLICY_BYTES:
        raise parameter_invalid(f"Maximum policy size of {POLICY_BYTES} bytes exceeded")
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        document = None
    if not isinstance(document, dict):
        _refuse("This policy contains invalid Json")
    given = document.get("Statement")
    statements = [given] if isinstance(given, dict) else given
    if not isinstance(statements, list) or not statements:
        _refuse("Could not parse the policy: Statement is empty!")
    read = [_statement(each, resource, frozenset(actions)) for each in statements]
    sids = [each["Sid"] for each in read if "Sid" in each]
    if len(set(sids)) != len(sids):
        _refuse("The Statement Ids in the policy are not unique")
    whole = {"Version": document.get("Version", "2008-10-17"), "Statement": read}
    return ResourcePolicy(orjson.dumps(whole).decode(), tuple(read))


def stored(text: str) -> ResourcePolicy:
    """A policy as stored."""
    return ResourcePolicy(text, tuple(orjson.loads(text)["Statement"]))


def _refuse(reason: str) -> NoReturn:
    raise ValidationError(_DOCUMENT + reason)


def _statement(given: Any, resource: str, actions: frozenset[str]) -> dict[str, Any]:
    if not isinstance(given, dict):
        _refuse("This policy contains invalid Json")
    for member in ("Effect", "Principal", "Action", "Resource"):
        if member not in given:
            _refuse(f"Missing required field {member}")
    unknown = sorted(given.keys() - set(_MEMBERS))
    if unknown:
        _refuse(f"keyfold does not know these elements: {', '.join(unknown)}")
    effect = str(given["Effect"]).capitalize()
    if effect not in ("Allow", "Deny"):
        _refuse(f"Invalid effect: {given['Effect']}")
    principal = _principal(given["Principal"])
    if effect == "Allow" and _is_anyone(principal) and "Condition" not in given:
        raise ValidationError(
            "Resource-based policy grants unbounded access in one or more elements. Please revise "
            "the policy to ensure least-privilege form of access"
        )
    _check_actions(_string_list(given["Action"]), actions)
    _check_resources(_string_list(given["Resource"]), resource)
    condition = given.get("Condition")
    if condition is not None:
        _check_condition(condition)
    made = {
        "Sid": given.get("Sid"),
        "Effect": effect,
        "Principal": principal,
        "Action": _single(given["Action"]),
        "Resource": _single(given["Resource"]),
        "Condition": condition,
    }
    return {name: value for name, value in made.items() if value is not None}


def _string_list(value: Any) -> list[str]:
    listed = value if isinstance(value, list) else [value]
    if not all(isinstance(each, str) for each in listed):
        _refuse("This policy contains invalid Json")
    return listed


def _single(value: Any) -> Any:
    """A list of one is written as its element."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _principal(value: Any) -> Any:
    if value == "*":
        return "*"
    if not isinstance(value, dict) or not value:
        raise parameter_invalid("Invalid principal in policy document.")
    made: dict[str, Any] = {}
    for kind, named in value.items():
        arns = [f"arn:aws:iam::{n}:root" if _ACCOUNT(n) else n for n in _string_list(named)]
        if kind not in ("AWS", "Service") or not all(_PRINCIPAL(arn) for arn in arns):
            raise parameter_invalid("Invalid principal in policy document.")
        made[kind] = _single(arns)
    return made


def _is_anyone(principal: Any) -> bool:
    return principal == "*" or "*" in _string_list(principal.get("AWS", []))


def _check_actions(named_actions: list[str], actions: frozenset[str]) -> None:
    wrong = [
        f'"{named}"'
        for named in named_actions
        if named != "*"
        and not (
            named.lower().startswith("dynamodb:")
            and any(like(f"dynamodb:{each}", named, fold=True) for each in actions)
        )
    ]
    if wrong:
        _refuse(f"The following action names are invalid: {', '.join(wrong)}")


def _check_resources(named: list[str], resource: str) -> None:
    """A table's policy may name tables and indexes, a stream's only streams."""
    of_stream = "/stream/" in resource
    for arn in named:
        if arn == "*":
            continue
        relative = arn.split(":", 5)[-1]
        if not arn.startswith("arn:") or ("/stream/" in relative) != of_stream:
            _refuse(f'The relative-id "{relative}" is invalid for ARN "{arn}"')


def _check_condition(condition: Any) -> None:
    if not isinstance(condition, dict):
        _refuse("This policy contains invalid Json")
    for operator, keys in condition.items():
        if base_operator(operator) not in OPERATORS:
            _refuse(f"keyfold does not know the condition operator {operator}")
        if not isinstance(keys, dict):
            _refuse("This policy contains invalid Json")
        for key in keys:
            if key.lower() not in _KEYS:
                _refuse(f"keyfold does not know the condition key {key}")
