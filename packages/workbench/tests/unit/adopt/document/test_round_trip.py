"""The document that `keyfold docs` writes is read back as the design it was written from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from keyfold.design.file import load, loads
from keyfold.design.schema import Schema
from keyfold.review import docs
from keyfold_workbench.adopt.document.design import design_of

DESIGNS = Path(__file__).parents[5] / "keyfold/tests/unit/review/designs"
LIBRARY = """\
design: library
tables:
  Library:
    key: [PK, SK]
    ttl: expires
    indexes: {ByAuthor: {key: [GSI1PK, GSI1SK], projection: KEYS_ONLY}}
  Members: {key: [memberId]}
entities:
  Book:
    table: Library
    key: {PK: "BOOK#<bookId>", SK: META}
    indexes: {ByAuthor: {GSI1PK: "AUTHOR#<author>", GSI1SK: "BOOK#<bookId>"}}
    attributes: {bookId: id, author: string, state: "optional string one of IN, OUT"}
  Loan:
    table: Library
    key: {PK: "BOOK#<bookId>", SK: "LOAN#<loanedAt>"}
    attributes: {bookId: id, loanedAt: timestamp, expires: timestamp epoch}
  Member:
    table: Members
    key: {memberId: "<memberId>"}
    attributes: {memberId: id, name: string}
patterns:
  Book: {get: Book, where: "PK = BOOK#<bookId>, SK = META"}
  Loans of a book:
    query: Loan
    where: PK = BOOK#<bookId>, SK begins_with LOAN#
    descending: true
    limit: 20
  Books of an author: {query: Book, index: ByAuthor, where: "GSI1PK = AUTHOR#<author>"}
  Loans in a time:
    query: Loan
    where: PK = BOOK#<bookId>, SK between LOAN#<from> and LOAN#<to>
"""


@pytest.mark.parametrize(
    "name",
    ["library", "e_commerce", "session_store", "aws_forum", "aws_game_scores", "aws_time_series"],
)
def test_the_document_of_a_design_is_read_back_without_a_question(
    name: str, tmp_path: Path
) -> None:
    schema = loads(LIBRARY) if name == "library" else load(DESIGNS / f"{name}.yaml")
    file = tmp_path / "generated.md"
    docs.write(docs.files(schema, file, ""))
    found = design_of(file.read_text(), "generated.md")
    assert _tables(found.schema) == _tables(schema)
    assert _placements(found.schema) == _placements(schema)
    assert _patterns(found.schema) == _patterns(schema)
    assert found.questions == []
    assert found.reading.coverage()["not understood"] == 0


def _tables(schema: Schema) -> dict[str, Any]:
    return {
        table.name: (
            (table.partition, table.partition_type, table.sort, table.ttl, table.stream),
            {i.name: (i.partition_text, i.sort_text, i.projection) for i in table.indexes},
        )
        for table in schema.tables
    }


def _placements(schema: Schema) -> dict[str, Any]:
    return {
        entity.name: (
            entity.table,
            str(entity.key),
            {placement.index: str(placement.key) for placement in entity.placements},
        )
        for entity in schema.entities
    }


def _patterns(schema: Schema) -> dict[str, Any]:
    return {
        pattern.name: (
            (pattern.table, pattern.index, {*pattern.entities}, str(pattern.partition)),
            (pattern.condition.operator, str(pattern.condition.template)),
            (pattern.descending, pattern.limit),
        )
        for pattern in schema.patterns
    }
