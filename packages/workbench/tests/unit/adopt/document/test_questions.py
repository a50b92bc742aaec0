"""What is not certain is asked, with its line, and never guessed."""

import pytest

from keyfold.review.check import check
from keyfold_workbench.adopt.document.design import design_of
from keyfold_workbench.adopt.document.reader import read_document

DOCUMENT = """# Shop

| Entity | PK | SK |
|---|---|---|
| Order | `ORDER#<orderId>` | `META` |
"""


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("| Line | `ORDER#<orderId>` or `BOX#<boxId>` | `LINE` |", "PK of Line: what is"),
        ("| Line | see below ... | `LINE` |", "PK of Line: what is"),
        ("| Line | `BOX#b-17` | `LINE` |", "BOX#b-17 is an example"),
        ("| Order | `CUSTOMER#<id>` | `META` |", "one kind of item or two?"),
    ],
)
def test_an_unclear_key_is_asked(line: str, asked: str) -> None:
    found = design_of(DOCUMENT + line + "\n", "shop.md")
    assert any(
        question.startswith("line 6: ") and asked in question for question in found.questions
    )
    assert list(found.schema.by_entity) == ["Order"]


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("- Boxes: `Query PK=BOX#<id>`", "that no entity's key can meet"),
        ("- Orders: `Query PK=ORDER#<id>, SK between dates`", "is not understood"),
        ("- Orders: `Query SK begins_with META`", "which partition?"),
        ("- Orders: Query by customer", "by which key?"),
    ],
)
def test_an_unclear_read_is_asked_and_left_out(line: str, asked: str) -> None:
    found = design_of(f"{DOCUMENT}\n## Access patterns\n\n{line}\n", "shop.md")
    assert any(
        question.startswith("line 9: ") and asked in question for question in found.questions
    )
    assert found.schema.patterns == ()


def test_a_contradiction_names_both_lines() -> None:
    found = design_of(DOCUMENT + "\n### Order\n- PK: `BUY#<orderId>`\n", "shop.md")
    assert found.reading.marks[8] == "contradicts"
    assert any("line 5" in question for question in found.reading.questions[8])


def test_a_line_that_looks_like_a_statement_and_is_not_taken_is_marked() -> None:
    found = design_of(DOCUMENT + "\nWe once had CART#<cartId> items.\n", "shop.md")
    assert found.reading.marks[7] == "not understood"


def test_a_line_is_explained() -> None:
    reading = design_of(DOCUMENT, "shop.md").reading
    told = reading.explain(5)
    assert told[0] == "Line 5: read."
    assert "Order: PK = ORDER#<orderId> (from a row of keys)" in told
    assert reading.explain(1) == ["Line 1: says nothing about keys, indexes, reads or attributes."]


def test_a_drafted_design_is_accepted_by_check() -> None:
    found = design_of(
        DOCUMENT + "\n## Access patterns\n- Order: `GetItem PK=ORDER#<id>, SK=META`\n", "s.md"
    )
    assert [pattern.kind for pattern in found.schema.patterns] == ["get"]
    assert not check(found.schema).fails("error")


@pytest.mark.parametrize(
    "text",
    [
        "**Examples:**\n- `PK=ORDER#17`, `SK=META`\n",
        "### Fields\n- **PasswordHash**: hash of the password\n",
        "### `GSI1` \u2014 by customer\n\nFor lists.\n",
        "## Table: `orders`\n\n| Pattern | Operation | Key |\n|---|---|---|\n"
        "| Create order | PutItem | PK: orderId |\n",
        "### Why keys?\n- `PK = USER#{userId}`\n",
        "### `colour` (String, required)\n- **Format:** a name\n",
    ],
    ids=["examples", "a password's hash", "an index", "operations", "a question", "an attribute"],
)
def test_what_is_no_key_adds_no_entity(text: str) -> None:
    known = "# Shop\n\n| Entity | PK | SK |\n|---|---|---|\n| Order | `ORDER#<id>` | META |\n\n"
    schema = design_of(known + text, "shop.md").schema
    assert [e.name for e in schema.entities] == ["Order"]
    assert "colour" not in schema.tables[0].name


def test_words_in_a_key_column_are_values_and_asked() -> None:
    text = "# D\n\n| pk | sk |\n|---|---|\n| `SHOP#<id>` | kpi |\n| `SHOP#<id>` | summary |\n"
    found = design_of(text, "d.md")
    assert [str(e.key) for e in found.schema.entities] == ["SHOP#{id} / kpi", "SHOP#{id} / summary"]
    assert any("Is kpi a value?" in question for question in found.questions)


def test_two_items_with_one_key_are_asked() -> None:
    text = "# D\n\n| Entity | PK |\n|---|---|\n| Order | `A#<id>` |\n\n## Bill\n- PK: `A#<id>`\n"
    found = design_of(text, "d.md")
    assert any("Bill has the key of Order" in question for question in found.questions)


def test_an_item_without_its_sort_key_is_asked() -> None:
    found = design_of(DOCUMENT + "| Line | `ORDER#<orderId>` | - |\n", "shop.md")
    assert found.questions == ["line 6: Line: what is its SK?"]


@pytest.mark.parametrize(
    "line",
    [
        "Items expire via `expiresAt`.",
        "Each session is keyed by `sessionId`.",
        "The service calls PutItem at every visit.",
        "1. Repairs of a customer (we do not know yet how)",
        "| Repairs of a customer | not known yet |",
    ],
)
def test_what_speaks_of_keys_reads_or_expiry_and_is_not_read_is_said(line: str) -> None:
    table = "| Access pattern | How |\n| --- | --- |\n" if line.startswith("|") else ""
    text = f"# Shop\n\n## Access patterns\n\n{table}{line}\n"
    reading = read_document(text)
    assert reading.marks == {text.count("\n"): "not understood"}
