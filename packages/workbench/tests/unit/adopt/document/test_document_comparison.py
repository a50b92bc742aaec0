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


def test_keys_of_an_index_that_is_not_deployed_are_told(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    template = tmp_path / "template.yaml"
    template.write_text(TEMPLATE)
    change(files, "- TTL attribute: `expires`\n", "")
    assert main(["docs", "--check", files[0], "--against", str(template), "--format", "json"]) == 1
    told = capsys.readouterr()
    assert [each["message"] for each in json.loads(told.out)["findings"]] == [
        "No index has the partition key GSI1PK; the indexes are none.",
        "No index has the sort key GSI1SK; the indexes are none.",
    ]
    assert "2 statements agree" in told.err


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


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("Draft:", "Draft:", None),
        ("Draft:", "Sketch:", None),
        ("PK: 'DRAFT#", "PK: 'OLD#", "PK is DRAFT#<id> in the document, and OLD#{draftId}"),
        (
            "Draft:\n    key: {PK: 'DRAFT#",
            "Sketch:\n    key: {PK: 'OLD#",
            "No entity of the design has the key DRAFT#<id> / META",
        ),
    ],
    ids=["the same", "another name", "another key", "another name and key"],
)
def test_a_key_is_that_of_its_entity_though_others_have_a_side_of_it(
    files: tuple[str, str],
    capsys: pytest.CaptureFixture[str],
    old: str,
    new: str,
    told: str | None,
) -> None:
    path = Path(files[1])
    cart = "  Cart:\n    key: {PK: 'DRAFT#{cartId}', SK: CART}\n    attributes: {cartId: string}\n"
    path.write_text(path.read_text().replace(old, new) + cart)
    row = "| {} | `DRAFT#<id>` | `{}` | - | - |\n"
    rows = row.format("Draft", "META") + row.format("Cart", "CART")
    change(files, "\n### Order", rows + "\n### Order")
    found = [each for each in compared(files, capsys) if " DOC3 " not in each]
    assert any(told in each for each in found) if told else not found, found


TABLES = """# Shop

| Table | Partition key | Sort key |
|---|---|---|
| `users` | `userId` | - |
| `orders` | `userId` | `orderId` |
| `carts` | `cartId` | - |

## Indexes of orders

- `by-day-index` (day as PK)

### by-day-index
- Partition key: `day`
"""


def template(**tables: tuple[str, ...]) -> str:
    """Tables `shop-<name>-dev` with these key attributes."""
    resources = {
        name.title(): {
            "Type": "AWS::DynamoDB::Table",
            "Properties": {
                "TableName": f"shop-{name}-dev",
                "AttributeDefinitions": [
                    {"AttributeName": key, "AttributeType": "S"} for key in keys
                ],
                "KeySchema": [
                    {"AttributeName": key, "KeyType": kind}
                    for key, kind in zip(keys, ("HASH", "RANGE"), strict=False)
                ],
            },
        }
        for name, keys in tables.items()
    }
    return json.dumps({"Resources": resources})


def against(tmp_path: Path, capsys: pytest.CaptureFixture[str], template: str) -> list[str]:
    document, source = tmp_path / "DESIGN.md", tmp_path / "template.yaml"
    document.write_text(TABLES)
    source.write_text(template)
    main(["docs", "--check", str(document), "--against", str(source), "--format", "json"])
    found = json.loads(capsys.readouterr().out)["findings"]
    return [f"{each['line']} {each['code']} {each['message']}" for each in found]


def test_each_table_is_compared_with_the_one_of_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deployed = template(users=("user_id",), orders=("userId", "orderId"))
    assert against(tmp_path, capsys, deployed) == [
        "5 DOC1 The partition key is userId in the document; the design has user_id.",
        "7 DOC2 The table carts is not there; the tables are shop-orders-dev, shop-users-dev.",
        "11 DOC2 The index by-day-index is not there; the indexes are none.",
    ]


def test_an_index_told_by_its_number_is_that_of_its_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document, design = tmp_path / "DESIGN.md", tmp_path / "shop.yaml"
    tables = {
        name: {"key": ["id"], "indexes": {f"by-{key}": {"key": [key, "day"]}}}
        for name, key in (("orders", "shop"), ("bills", "payer"))
    }
    design.write_text(json.dumps({"design": "shop", "tables": tables}))
    document.write_text(
        "# Shop\n"
        + "".join(
            f"\n## Table: `{name}`\n- **Partition key**: `id`\n\n#### GSI 1: `by-{key}`\n"
            f"- **Partition key**: `{key}`\n- **Sort key**: `day`\n"
            for name, key in (("orders", "shop"), ("bills", "payer"))
        )
    )
    assert main(["docs", str(design), "--check", str(document), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["findings"] == []


def test_a_table_that_nobody_documented_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deployed = template(
        users=("userId",), orders=("userId", "orderId"), carts=("cartId",), audits=("id",)
    )
    assert against(tmp_path, capsys, deployed) == [
        "0 DOC3 The table shop-audits-dev is not in the document.",
        "11 DOC2 The index by-day-index is not there; the indexes are none.",
    ]


def test_a_table_that_may_have_another_name_differs_only_if_its_key_is_nowhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deployed = template(users=("userId",), purchases=("userId", "orderId"), baskets=("id",))
    assert against(tmp_path, capsys, deployed)[0] == (
        "7 DOC2 No table is called carts, and none has the partition key cartId: id, userId."
    )
