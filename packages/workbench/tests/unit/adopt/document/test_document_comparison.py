"""`keyfold docs --check DESIGN.md`: a hand-written document against its design or its tables."""

import json
from pathlib import Path

import pytest

from keyfold.cli import main

DESIGN = """design: shop
tables:
  shop:
    key: [PK, SK]
    ttl: expires
    indexes:
      ByCustomer: {key: [GSI1PK, GSI1SK]}
entities:
  Order:
    key: {PK: ORDER#{orderId}, SK: META}
    indexes:
      ByCustomer: {GSI1PK: 'CUSTOMER#{customerId}', GSI1SK: 'ORDER#{date}'}
    attributes: {orderId: string, customerId: string, date: timestamp, total: number}
  Draft:
    key: {PK: 'DRAFT#{draftId}', SK: META}
    attributes: {draftId: string}
"""
DOCUMENT = """# Shop

- TTL attribute: `expires`

| Entity | PK | SK | GSI1PK | GSI1SK |
|---|---|---|---|---|
| Orders | `ORDER#<id>` | `META` | `CUSTOMER#<cid>` | `ORDER#<day>` |

### Order

| Attribute | Type |
|---|---|
| total | Number |
"""
TEMPLATE = """
Resources:
  Shop:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: shop-dev
      AttributeDefinitions:
        - {AttributeName: PK, AttributeType: S}
        - {AttributeName: SK, AttributeType: S}
      KeySchema:
        - {AttributeName: PK, KeyType: HASH}
        - {AttributeName: SK, KeyType: RANGE}
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    document, design = tmp_path / "DESIGN.md", tmp_path / "shop.yaml"
    document.write_text(DOCUMENT)
    design.write_text(DESIGN.replace("ORDER#{orderId}, SK", "'ORDER#{orderId}', SK"))
    return str(document), str(design)


def compared(files: tuple[str, str], capsys: pytest.CaptureFixture[str], *more: str) -> list[str]:
    document, design = files
    main(["docs", design, "--check", document, "--format", "json", *more])
    found = json.loads(capsys.readouterr().out)["findings"]
    return [f"{each['line']} {each['code']} {each['message']}" for each in found]


def change(files: tuple[str, str], old: str, new: str) -> None:
    path = Path(files[0])
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_names_of_fields_and_plurals_do_not_matter(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    told = compared(files, capsys)
    assert told == ["0 DOC3 The design has Draft; the document does not say so."]


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("`META`", "`HEAD`", 7, "SK is HEAD in the document, and META in the design."),
        ("ORDER#<day>", "DAY#<day>", 7, "GSI1SK is DAY#<day> in the document, and ORDER#{date}"),
        ("`expires`", "`ttl`", 3, "The time to live is ttl in the document; the design has"),
        ("Number", "List", 13, "It is list in the document, and number in the design."),
        ("total", "price", 13, "Order has no price in the design."),
        ("| Orders | `ORDER#", "| Parcel | `PARCEL#", 7, "PK is PARCEL#<id>; no entity of the"),
    ],
)  # fmt: skip
def test_each_difference_is_told_with_its_line(
    files: tuple[str, str],
    capsys: pytest.CaptureFixture[str],
    old: str,
    new: str,
    line: int,
    told: str,
) -> None:
    change(files, old, new)
    found = [each for each in compared(files, capsys) if each.startswith(f"{line} DOC")]
    assert any(told in each for each in found), found


def test_a_difference_ends_with_1_and_a_known_one_with_0(
    files: tuple[str, str], tmp_path: Path
) -> None:
    document, design = files
    assert main(["docs", design, "--check", document]) == 0
    change(files, "`META`", "`HEAD`")
    assert main(["docs", design, "--check", document]) == 1
    assert main(["docs", design, "--check", document, "--fail-on", "error"]) == 0
    baseline = str(tmp_path / "known.json")
    assert main(["docs", design, "--check", document, "--write-baseline", baseline]) == 0
    assert main(["docs", design, "--check", document, "--baseline", baseline]) == 0


def test_a_template_is_enough(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    template = tmp_path / "template.yaml"
    template.write_text(TEMPLATE)
    change(files, "| Entity", "- **GSI1**: `GSI1PK`, `GSI1SK`\n\n| Entity")
    assert main(["docs", "--check", files[0], "--against", str(template), "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    assert [each["message"] for each in found] == [
        "The time to live is expires in the document; the design has none.",
        "The index GSI1 is not there; the indexes are none.",
    ]


@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_every_format_names_the_document(
    files: tuple[str, str], capsys: pytest.CaptureFixture[str], form: str
) -> None:
    change(files, "`META`", "`HEAD`")
    assert main(["docs", files[1], "--check", files[0], "--format", form]) == 1
    assert "DESIGN.md" in capsys.readouterr().out
