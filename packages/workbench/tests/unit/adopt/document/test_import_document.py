"""`keyfold import DESIGN.md`: a design file, questions, coverage; with a template; bad input."""

from pathlib import Path

import pytest

from keyfold.cli import main
from keyfold.design.file import load
from keyfold.errors import KeyfoldError
from keyfold_workbench.adopt.document import reader
from keyfold_workbench.adopt.document.answers import with_answer
from keyfold_workbench.adopt.document.design import design_of

DOCUMENT = """# Shop

| Entity | PK | SK | GSI1PK | GSI1SK |
|---|---|---|---|---|
| Order | `ORDER#<orderId>` | `META` | `CUSTOMER#<customerId>` | `ORDER#<date>` |
| Line | `ORDER#<orderId>` or `BOX#<boxId>` | `LINE#<n>` | - | - |

### Access patterns
- Orders of a customer: Query GSI1 `GSI1PK=CUSTOMER#<id>`
"""
TEMPLATE = """
Resources:
  Shop:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: shop-dev
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions:
        - {AttributeName: PK, AttributeType: S}
        - {AttributeName: SK, AttributeType: S}
        - {AttributeName: GSI1PK, AttributeType: S}
        - {AttributeName: GSI1SK, AttributeType: S}
      KeySchema:
        - {AttributeName: PK, KeyType: HASH}
        - {AttributeName: SK, KeyType: RANGE}
      GlobalSecondaryIndexes:
        - IndexName: ByCustomer
          KeySchema:
            - {AttributeName: GSI1PK, KeyType: HASH}
            - {AttributeName: GSI1SK, KeyType: RANGE}
          Projection: {ProjectionType: ALL}
"""


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "shop.md"
    path.write_text(DOCUMENT)
    return path


def test_a_document_becomes_a_design_file_with_questions_and_coverage(document: Path) -> None:
    made = document.with_suffix(".yaml")
    assert main(["import", str(document), "--output", str(made)]) == 0
    text = made.read_text()
    assert "# ? shop.md, line 6: PK of Line: what is" in text
    assert "# Lines: 2 read, 1 question, 0 contradicts, 0 not understood." in text
    schema = load(made)
    assert str(schema.by_entity["Order"].key) == "ORDER#{orderId} / META"
    assert [pattern.name for pattern in schema.patterns] == ["Orders of a customer"]


def test_with_a_template_tables_and_indexes_are_the_deployed_ones(document: Path) -> None:
    template, made = document.with_name("template.yaml"), document.with_suffix(".yaml")
    template.write_text(TEMPLATE)
    assert main(["import", str(document), str(template), "--output", str(made)]) == 0
    schema = load(made)
    assert [(table.name, table.indexes[0].name) for table in schema.tables] == [
        ("shop-dev", "ByCustomer")
    ]
    assert schema.by_entity["Order"].placements[0].index == "ByCustomer"
    assert schema.patterns[0].index == "ByCustomer"


def test_a_line_is_explained(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(document), "--explain", "6"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Line 6: question.")
    assert "? PK of Line: what is" in out


def test_a_document_without_a_design_says_what_was_looked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "notes.md"
    path.write_text("# Notes\n\nNothing about keys.\n")
    assert main(["import", str(path)]) == 2
    assert "has no design: no line gives a key" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "answer", "key"),
    [
        (6, "Line: PK=BOX#<boxId>, SK=LINE#<n>", "BOX#{boxId} / LINE#{n}"),
        (6, "ignore", None),
    ],
)
def test_an_answer_in_the_line_settles_its_question(
    line: int, answer: str, key: str | None
) -> None:
    found = design_of(with_answer(DOCUMENT, line, answer), "shop.md")
    assert found.questions == []
    entity = found.schema.by_entity.get("Line")
    assert (str(entity.key) if entity else None) == key


def test_an_answer_names_the_entity_of_what_follows() -> None:
    fence = "# Shop\n\n## Keys\n\n```\nPK: ORDER#<orderId>\nSK: META\n```\n"
    assert design_of(fence, "shop.md").questions
    found = design_of(with_answer(fence, 6, "entity Order"), "shop.md")
    assert found.questions == []
    assert str(found.schema.by_entity["Order"].key) == "ORDER#{orderId} / META"


def test_yes_confirms_what_was_read() -> None:
    doubtful = DOCUMENT.replace("`ORDER#<orderId>` or `BOX#<boxId>`", "`ORDER#<orderId>#box`")
    assert design_of(doubtful, "shop.md").questions
    found = design_of(with_answer(doubtful, 6, "yes"), "shop.md")
    assert found.questions == []
    assert str(found.schema.by_entity["Line"].key) == "ORDER#{orderId}#box / LINE#{n}"


def test_an_answer_that_is_not_one_is_refused(
    document: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document.write_text(with_answer(DOCUMENT, 6, "whatever you like"))
    assert main(["import", str(document)]) == 2
    assert (
        "line 6: unknown answer 'whatever you like'. Write entity NAME" in capsys.readouterr().err
    )


HOSTILE = {
    "deep lists": "- " * 50_000 + "PK=A#<b>",
    "deep quotes": "> " * 50_000 + "PK=A#<b>",
    "open brackets": "[" * 200_000,
    "open angles": "PK=A#" + "<" * 200_000,
    "HTML": "<div><table><tr><td>PK=A#1</td></tr></table>" * 20_000,
    "one long line": "`PK=A#<b>, ` " * 100_000,
    "comments": "<!-- keyfold: entity X -->" * 20_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_input_ends_with_no_entities(text: str) -> None:
    assert design_of(text, "d.md").schema.entities == ()


def test_thousands_of_tables_are_read() -> None:
    one = "## Order {n}\n\n| PK | SK |\n|---|---|\n| `O{n}#<id>` | `M` |\n\n"
    text = "# D\n\n" + "".join(one.replace("{n}", str(n)) for n in range(3_000))
    found = design_of(text, "d.md")
    assert found.reading.coverage()["read"] == 3_000


def test_a_document_of_ten_megabytes_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "big.md"
    path.write_text("x" * 10_000_000)
    assert main(["import", str(path)]) == 2
    assert "2,000,000 is the most" in capsys.readouterr().err


def test_aliases_in_a_fence_are_not_followed_without_limit(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    fence = "\n".join(["```yaml", "KeySchema: x", *lines, "```"])
    broken = "```\naws dynamodb create-table --global-secondary-indexes '[{]'\n```\n"
    made = design_of(f"{DOCUMENT}\n{fence}\n{broken}", "shop.md")
    assert "Order" in made.schema.by_entity


def test_a_document_with_more_statements_than_one_system_has_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reader, "MOST_STATEMENTS", 3)
    rows = "".join(f"| Order{n} | `ORDER{n}#<id>` | `META` |\n" for n in range(2))
    with pytest.raises(KeyfoldError, match="has 4 statements about keys"):
        design_of("# Shop\n\n| Entity | PK | SK |\n|---|---|---|\n" + rows, "shop.md")
