"""Texts that a pattern could try to divide in billions of ways: such a test would not end."""

from __future__ import annotations

import pytest

from keyfold.design.file import loads
from keyfold.design.template import parse_template
from keyfold_engine.engine import Engine
from keyfold_engine.errors import ValidationError
from keyfold_engine.limits import PARTITION_KEY_BYTES
from keyfold_workbench.adopt.document.reader import read_document

MANY = 20_000


@pytest.mark.parametrize("delimiter", ["|", "#", "::", "-", "/"])
def test_a_key_of_delimiters_is_no_key_of_a_template(delimiter: str) -> None:
    fields = delimiter.join(f"{{f{number}}}" for number in range(8))
    template = parse_template(f"X{fields}#END")
    text = "X" + delimiter * (PARTITION_KEY_BYTES // len(delimiter))
    assert not template.matches(text)
    values = {f"f{number}": f"v{number}" for number in range(8)}
    assert template.parse(template.render(values)) == values


def test_a_name_of_a_bucket_is_refused_however_long() -> None:
    source = {"S3Bucket": "0" * MANY + "!"}
    with Engine.open(":memory:") as engine, pytest.raises(ValidationError, match="s3Bucket"):
        engine.call(
            "ImportTable",
            {"S3BucketSource": source, "InputFormat": "CSV", "TableCreationParameters": {}},
        )


def test_a_condition_of_a_design_file_is_read_however_much_space_it_has() -> None:
    where = f"PK = A, begins_with(SK,{' ' * MANY}"
    loads(
        "design: x\nentities:\n  A: {key: {PK: A, SK: B}}\n"
        f"patterns:\n  p: {{query: A, where: '{where}B)'}}\n"
    )


@pytest.mark.parametrize(
    "line",
    [
        "- a" + "_" * MANY,
        "- a-" + "b-" * MANY,
        "<!--keyfold:" + " " * MANY,
        "between" + " " * MANY,
        " " * MANY + "x",
        "{" + " \t" * MANY,
        "`PK`: " + "<" * MANY,
        "**" * MANY,
        "| PK " * MANY + "|",
        "![image](data:image/png;base64," + "QUJD" * MANY + ")",
    ],
)
def test_a_line_of_a_document_is_read_or_left_however_long(line: str) -> None:
    document = f"# Shop\n\n| Entity | PK | SK |\n|---|---|---|\n| A | `A#<id>` | `B` |\n\n{line}\n"
    assert read_document(document).statements
