"""Any scalar of a design file may be hostile: it is refused, or stays data in every program."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

import hcl2
import yaml

from keyfold.design.file import loads
from keyfold.errors import KeyfoldError
from keyfold.review.draft.python import declaration
from keyfold_workbench.infra import FORMATS

CALL = "__import__('os').system('touch PWNED')"
HOSTILE = (
    f"NEW_IMAGE if not {CALL} else None",
    f'"); {CALL}; ("',
    f"${{file('/etc/passwd')}} %{{ if true }}{CALL}%{{ endif }}",
)
DESIGN = """
design: notes
description: what is noted
tables:
  Notes:
    key: {PK: S, SK: N}
    ttl: gone
    stream: NEW_IMAGE
    billing: PROVISIONED
    type_attribute: kind
    description: all of them
    indexes:
      ByAuthor:
        key: {author: S}
        projection: INCLUDE
        included: [title]
        purpose: by author
entities:
  Note:
    table: Notes
    description: a note
    type_name: note
    key: {PK: "ROOM#<room>", SK: "<at>"}
    attributes:
      room: {type: id, refers: Room, description: where}
      at: number
      author: {type: string, stored: ''}
      title: {type: string, name: heading, description: its title}
      hint: {type: string, normalise: casefold, reads: [number]}
      tags: {type: string_set, optional: true}
      written: {type: timestamp, stored: iso_ms}
      version: number
    version: version
    uniques: [{fields: [title], normalise: lower, marker: ["TITLE#<title>", "0"]}]
  Room:
    table: Notes
    key: {PK: "ROOM#<room>", SK: "0"}
    attributes: {room: id, notes: number}
patterns:
  newest: {query: Note, table: Notes, where: "PK = ROOM#<room>, SK > <at>", limit: 10}
  by author: {query: Note, index: ByAuthor, where: "author = <author>"}
operations:
  write: {does: [create Note], description: writes}
consumers:
  tell: {table: Notes, entities: [Note], events: [INSERT], dead_letter: letters, description: tells}
"""
OURS = re.compile(r"(?<!\$)\$\{(?!var\.prefix\}|aws_\w+\.\w+\.\w+\})")


def scalars(node: yaml.Node) -> Iterator[yaml.ScalarNode]:
    if isinstance(node, yaml.ScalarNode):
        yield node
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from scalars(key)
            yield from scalars(value)
    elif isinstance(node, yaml.SequenceNode):
        for one in node.value:
            yield from scalars(one)


def mutated() -> Iterator[str]:
    """The design with each of its scalars replaced by each hostile text."""
    root = yaml.compose(DESIGN)
    assert root is not None
    for node in scalars(root):
        start, end = node.start_mark.index, node.end_mark.index
        for text in HOSTILE:
            yield f"{DESIGN[:start]}{json.dumps(text)}{DESIGN[end:]}"


def test_the_design_itself_is_written_in_every_format() -> None:
    schema = loads(DESIGN)
    assert all(write(schema) for write in FORMATS.values())


def runs_nothing(program: str) -> bool:
    """Whether no name of the hostile texts is anything but data."""
    names = {node.id for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Name)}
    return "__import__" not in names


def test_a_hostile_scalar_is_refused_or_stays_data() -> None:
    read = 0
    for text in mutated():
        try:
            schema = loads(text)
        except KeyfoldError:
            continue
        read += 1
        for format_ in ("cdk", "terraform", "cloudformation", "iam"):
            try:
                made = FORMATS[format_](schema)
            except KeyfoldError:
                continue
            if format_ == "cdk":
                assert runs_nothing(made), (format_, text)
            elif format_ == "terraform":
                if "${file" in text:
                    hcl2.loads(made)
                assert not OURS.search(made), text
                assert not re.search(r"(?<!%)%\{", made), text
            elif format_ == "cloudformation":
                yaml.safe_load(made)
            else:
                json.loads(made)
        try:
            made, _ = declaration(schema)
        except KeyfoldError:
            continue
        assert runs_nothing(made), text
    assert read > 50
