from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyfold_engine.errors import ValidationError
from keyfold_engine.expressions import parser
from keyfold_engine.expressions.ast import (
    AddAction,
    And,
    Arithmetic,
    Between,
    Compare,
    DeleteAction,
    Function,
    In,
    NameRef,
    Not,
    Or,
    Path,
    RemoveAction,
    SetAction,
    ValueRef,
)
from keyfold_engine.expressions.reserved import RESERVED

A, B, C = Path(("a",)), Path(("b",)), Path(("c",))
V, W = ValueRef(":v"), ValueRef(":w")


def _refusal(text: str, parse: object = parser.condition) -> str:
    with pytest.raises(ValidationError) as caught:
        parse(text)  # type: ignore[operator]
    return caught.value.message


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a = :v", Compare("=", A, V)),
        ("a<>:v", Compare("<>", A, V)),
        (":v >= a", Compare(">=", V, A)),
        ("#n.b[2].c = :v", Compare("=", Path((NameRef("#n"), "b", 2, "c")), V)),
        ("a between :v and :w", Between(A, V, W)),
        ("a IN (:v, :w, b)", In(A, (V, W, B))),
        ("size(a) > :v", Compare(">", Function("size", (A,)), V)),
        ("contains (a , :v)", Function("contains", (A, V))),
        ("NOT a = :v", Not(Compare("=", A, V))),
        ("(a) = (:v)", Compare("=", A, V)),
        ("(a = :v)", Compare("=", A, V)),
        (
            "a = :v OR b = :v AND c = :v",
            Or((Compare("=", A, V), And((Compare("=", B, V), Compare("=", C, V))))),
        ),
        (
            "(a = :v OR b = :v) AND c = :v",
            And((Or((Compare("=", A, V), Compare("=", B, V))), Compare("=", C, V))),
        ),
        (
            "a BETWEEN :v AND :w AND b = :v",
            And((Between(A, V, W), Compare("=", B, V))),
        ),
        ("NOT (a = :v AND b = :v)", Not(And((Compare("=", A, V), Compare("=", B, V))))),
        ("\n a\t=\r :v ", Compare("=", A, V)),
    ],
)
def test_conditions(text: str, tree: object) -> None:
    assert parser.condition(text) == tree


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("SET a = :v", (SetAction(A, V),)),
        (
            "set a = b + :v, c = :v - b",
            (SetAction(A, Arithmetic("+", B, V)), SetAction(C, Arithmetic("-", V, B))),
        ),
        ("SET a = (b + :v)", (SetAction(A, Arithmetic("+", B, V)),)),
        (
            "SET a = list_append(if_not_exists(a, :v), :w)",
            (SetAction(A, Function("list_append", (Function("if_not_exists", (A, V)), W))),),
        ),
        ("REMOVE a, b.c[0]", (RemoveAction(A), RemoveAction(Path(("b", "c", 0))))),
        ("ADD a :v DELETE b :w", (AddAction(A, V), DeleteAction(B, W))),
        ("REMOVE a SET b = :v", (RemoveAction(A), SetAction(B, V))),
    ],
)
def test_updates(text: str, actions: object) -> None:
    assert parser.update(text).actions == actions


def test_projections() -> None:
    assert parser.projection("a, #n[0].b ,c") == (A, Path((NameRef("#n"), 0, "b")), C)


@pytest.mark.parametrize(
    ("text", "token", "near"),
    [
        ("foo", "<EOF>", "foo"),
        ("a =", "<EOF>", "="),
        ("attribute_exists(", "<EOF>", "("),
        ("a = = :v", "=", "= = :v"),
        ("a ! :v", "!", "a ! :v"),
        ("_a = :v", "_", "_a"),
        ("a = :v b", "b", ":v b"),
        ("a IN :v", ":v", "IN :v"),
        ("a[x] = :v", "x", "[x]"),
        ("a[01] = :v", "1", "01]"),
        ("AND = :v", "AND", "AND ="),
        ("a = :v AND", "<EOF>", "AND"),
        ("(a) AND b = :v", "AND", ") AND b"),
        (": = a", ":", ": ="),
    ],
)
def test_syntax_errors_name_the_token_and_its_surroundings(
    text: str, token: str, near: str
) -> None:
    expected = f'Invalid ConditionExpression: Syntax error; token: "{token}", near: "{near}"'
    assert _refusal(text) == expected


@pytest.mark.parametrize(
    ("text", "token", "near"),
    [
        ("INVALID SYNTAX HERE", "INVALID", "INVALID SYNTAX"),
        ("SET a = :v,", "<EOF>", ","),
        ("SET", "<EOF>", "SET"),
        ("ADD a b", "b", "a b"),
        ("SET a = :v * :w", "*", ":v * :w"),
    ],
)
def test_syntax_errors_of_updates(text: str, token: str, near: str) -> None:
    expected = f'Invalid UpdateExpression: Syntax error; token: "{token}", near: "{near}"'
    assert _refusal(text, parser.update) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "The expression can not be empty;"),
        ("  ", "The expression can not be empty;"),
        ("((a = :v))", "The expression has redundant parentheses;"),
        ("((a)) = :v", "The expression has redundant parentheses;"),
        ("a = ((:v))", "The expression has redundant parentheses;"),
        ("((a = :v)) AND !", "The expression has redundant parentheses;"),
        ("foo(a)", "Invalid function name; function: foo"),
        ("Contains(a, :v)", "Invalid function name; function: Contains"),
        (
            "list_append(a, :v) = b",
            "The function is not allowed in a condition expression; function: list_append",
        ),
        (
            "size(a)",
            "The function is not allowed to be used this way in an expression; function: size",
        ),
        (
            "contains(a, :v) = :w",
            "The function is not allowed to be used this way in an expression; function: contains",
        ),
        (
            "size(size(a)) = :v AND contains(a)",
            "Incorrect number of operands for operator or function; operator or function: "
            "contains, number of operands: 1",
        ),
        (
            "a.Name = :v",
            "Attribute name is a reserved keyword; reserved keyword: Name",
        ),
        (
            "a[99999999999] = :v",
            "List index is not within the allowable range; index: [99999999999]",
        ),
    ],
)
def test_what_the_text_alone_shows_to_be_wrong(text: str, reason: str) -> None:
    assert _refusal(text) == f"Invalid ConditionExpression: {reason}"


def test_parentheses_that_group_different_things_are_not_redundant() -> None:
    parser.condition("((a = :v) AND (b = :v))")
    parser.condition("((a) = (:v))")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SET a = foo(b)", "Invalid function name; function: foo"),
        (
            "SET a = size(b)",
            "The function is not allowed in an update expression; function: size",
        ),
        (
            "SET a = list_append(list_append(:v, :w), b)",
            "The function is not allowed to be used this way in an expression; "
            "function: list_append",
        ),
        (
            "SET a = :v SET b = :v",
            'The "SET" section can only be used once in an update expression;',
        ),
        ("SET status = :v", "Attribute name is a reserved keyword; reserved keyword: status"),
    ],
)
def test_what_is_wrong_in_updates(text: str, reason: str) -> None:
    assert _refusal(text, parser.update) == f"Invalid UpdateExpression: {reason}"


def test_the_parameter_an_expression_came_in_is_named() -> None:
    with pytest.raises(ValidationError, match=r"^Invalid FilterExpression: Syntax error"):
        parser.condition("a", "FilterExpression")
    with pytest.raises(ValidationError, match=r"^Invalid KeyConditionExpression: Syntax error"):
        parser.condition("a", "KeyConditionExpression")
    with pytest.raises(ValidationError, match=r"^Invalid ProjectionExpression: Syntax error"):
        parser.projection("a,")


def test_an_expression_is_at_most_four_kilobytes() -> None:
    fitting = "a" * (4096 - len(" = :v")) + " = :v"
    parser.condition(fitting)
    assert _refusal(f"a{fitting}") == (
        "Invalid ConditionExpression: Expression size has exceeded the maximum allowed size; "
        "expression size: 4097"
    )


def test_an_expression_has_at_most_300_operators() -> None:
    parser.condition(" OR ".join(["a=:v"] * 150))
    assert _refusal(" OR ".join(["a=:v"] * 151)) == (
        "Invalid ConditionExpression: The expression contains too many operators; "
        "operator count: 301"
    )


def test_parentheses_nest_as_deep_as_operators_allow() -> None:
    nested = "(" * 149 + "a=:v" + " OR a=:v)" * 149
    assert isinstance(parser.condition(nested), Or)
    with pytest.raises(ValidationError, match="too many operators"):
        parser.condition(f"({nested} OR a=:v)")


@pytest.mark.parametrize("text", ["(" * 4000, "NOT " * 1000, "size(" * 800, "(" * 299 + "a"])
def test_deep_nesting_is_refused_and_does_not_exhaust_the_stack(text: str) -> None:
    assert _refusal(text).startswith("Invalid ConditionExpression: ")


def test_every_reserved_word_is_refused_in_any_case() -> None:
    assert len(RESERVED) == 573
    for word in sorted(RESERVED - {"AND", "OR", "NOT", "IN", "BETWEEN"}):
        for spelled in (word, word.lower()):
            message = _refusal(spelled, parser.projection)
            assert "reserved keyword" in message or "Syntax error" in message


PIECES = st.sampled_from(
    (
        *("a", "b", "#n", ":v", "(", ")", "[", "]", "0", "12", ".", ",", "=", "<>", "<", "+", "-"),
        *("AND", "OR", "NOT", "IN", "BETWEEN", "SET", "REMOVE", "ADD", "DELETE"),
        *("size", "contains", "attribute_exists", "if_not_exists", "!", "_", "\x00", "é"),
    )
)


@given(st.text(max_size=60) | st.lists(PIECES, max_size=30).map(" ".join))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    for parse in (parser.condition, parser.update, parser.projection):
        with suppress(ValidationError):
            parse(text)
