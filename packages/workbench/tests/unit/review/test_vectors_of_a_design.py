"""Vector indexes of a design: in files, documents, costs, exports and checks."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from keyfold.design.file import DesignFileError, dumps, loads
from keyfold.errors import KeyfoldError
from keyfold.review.check import check
from keyfold.review.docs.content import document
from keyfold.review.docs.markdown import markdown
from keyfold.review.draft.python import declaration
from keyfold.runtime.tables import create_request
from keyfold_workbench.cost.billing import bill
from keyfold_workbench.cost.workload_file import loads as load_workload
from keyfold_workbench.infra import cdk, cloudformation, iam, terraform

NOTES = """\
design: notes
tables:
  main:
    key: [PK, SK]
    vectors:
      by_embedding:
        {attribute: embedding, dimensions: 384, within: ownerId, filters: [stars], numbers: [stars]}
entities:
  Note:
    key: {PK: OWNER#<ownerId>, SK: NOTE#<noteId>}
    attributes: {ownerId: id, noteId: id, stars: number, embedding: list max 384}
patterns:
  Notes of an owner: {query: Note, where: PK = OWNER#<ownerId>, limit: 20, paged: true}
searches:
  Similar notes: {entity: Note, index: by_embedding, given: [ownerId], limit: 10}
"""
WORKLOAD = """\
design: notes
entities:
  Note: {items: 1_000_000, distinct: {ownerId: 1000}}
patterns:
  Similar notes: {rate: 10}
  Notes of an owner: {rate: 0}
writes:
  create Note: {rate: 1}
"""


def test_a_design_file_is_read_as_it_was_written() -> None:
    schema = loads(NOTES)
    assert loads(dumps(schema)) == schema
    assert check(schema).findings == ()


def test_a_search_of_no_index_is_refused() -> None:
    with pytest.raises(DesignFileError, match="has no vector index 'by_meaning'"):
        loads(NOTES.replace("index: by_embedding", "index: by_meaning"))


def test_the_table_is_made_with_its_vector_index() -> None:
    request = create_request(loads(NOTES).tables[0], "Notes")
    [index] = request["VectorIndexes"]
    assert index["SearchSchema"] == [
        {"AttributeName": "ownerId", "SearchSchemaElementType": "HASH"},
        {"AttributeName": "stars", "SearchSchemaElementType": "INLINE_FILTER"},
    ]
    types = {one["AttributeName"]: one["AttributeType"] for one in request["AttributeDefinitions"]}
    assert types == {"PK": "S", "SK": "S", "ownerId": "S", "stars": "N"}


def test_the_document_shows_indexes_and_searches() -> None:
    shown = markdown(document(loads(NOTES)), pictures="")
    assert "| **by_embedding** | `embedding` | 384 | cosine | `ownerId` | `stars` |" in shown
    assert "| Similar notes | Note | by_embedding | ownerId | 10 |" in shown


def test_vectors_are_priced_by_the_bytes_of_their_entries() -> None:
    schema = loads(NOTES)
    made = bill(schema, load_workload(WORKLOAD, schema))
    lines = {line.name: line for line in made.upkeep}
    # 384 numbers of 4 bytes, and about 200 of the rest.
    entry = 1536 + 200
    seconds = 730 * 3600
    written = lines["writes to by_embedding"].dollars
    assert written == pytest.approx(entry * seconds / 2**30 * 0.52, rel=0.1)
    searched = lines["search Similar notes"].dollars
    assert searched == pytest.approx(1000 * entry * 10 * seconds / 2**30 * 0.002, rel=0.1)
    stored = lines["storage of by_embedding"].dollars
    assert stored == pytest.approx(1e6 * (entry + 100) / 2**30 * 0.25, rel=0.1)
    # A write is billed for four bytes a number too, in write units of a kilobyte.
    assert made.writes[0].write.units == 2


def test_a_search_needs_its_permission() -> None:
    assert "dynamodb:SearchVectors" in iam.render(loads(NOTES))
    assert "index/by_embedding" in iam.render(loads(NOTES))


@pytest.mark.parametrize("form", [cdk, cloudformation, terraform])
def test_what_a_form_cannot_say_is_refused(form: ModuleType) -> None:
    with pytest.raises(KeyfoldError, match=r"db\.create_tables"):
        form.render(loads(NOTES))


def test_a_design_file_becomes_python_with_its_vectors() -> None:
    schema = loads(NOTES)
    made, unserved = declaration(schema)
    module = ModuleType("declared")
    sys.modules["declared"] = module
    exec(compile(made, "declared.py", "exec"), module.__dict__)
    again = module.design.schema
    assert unserved == []
    assert [(one.name, one.dimensions, one.within) for one in again.tables[0].vectors] == [
        (one.name, one.dimensions, one.within) for one in schema.tables[0].vectors
    ]
    assert [(one.entity, one.index, one.limit) for one in again.searches] == [
        (one.entity, one.index, one.limit) for one in schema.searches
    ]
