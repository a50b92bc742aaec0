"""Whatever a design is called: the programs made of it do what they do for any other name."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter

import hcl2
import pytest
import yaml

from keyfold.design.file import loads
from keyfold.design.schema import Schema
from keyfold.errors import KeyfoldError
from keyfold.review.draft.python import declaration
from keyfold_workbench.infra import FORMATS
from keyfold_workbench.infra.plan import alarms, plan

HOSTILE = (
    '"""\nraise SystemExit("taken")\n"""',
    'a" + str(1/0) + "',
    "{__import__('os').getcwd()}",
    "back\\",
    'quote"',
    "line\r\nraise SystemExit",
    '${file("/etc/passwd")}',
    "%{ if true }x%{ endif }",
    "$${x} %%{y} ${Secret}",
    "nul\x00 \x85 \u2028",
    "'''",
)
OURS = re.compile(r"\$\{(\w+\.Arn|AWS::\w+|EventBus)\}")
"""What a template of ours substitutes beside the prefix."""
DESIGN = """
design: {name}
description: {name}
tables:
  {table}:
    key: {{PK: S, SK: N}}
    ttl: {field}
    indexes:
      {table}: {{key: [author], projection: INCLUDE, included: [{field}], purpose: {name}}}
entities:
  Note:
    description: {name}
    key: {{PK: <room>, SK: <at>}}
    attributes:
      room: id
      at: number
      author: id
      {field}: {{type: string, description: {name}}}
patterns:
  {name}: {{get: Note, where: "PK = <room>, SK = <at>", description: {name}}}
operations:
  write: {{does: [create Note]}}
consumers:
  count: {{table: {table}, entities: [Note], events: [INSERT]}}
"""


def _schema(name: str, table: str = "Notes", field: str = "title") -> Schema:
    texts = {"name": name, "table": table, "field": field}
    return loads(DESIGN.format(**{key: json.dumps(text) for key, text in texts.items()}))


def _shape(program: str) -> Counter[str]:
    """What a program consists of, whatever its texts and names, and in whatever order."""
    return Counter(type(node).__name__ for node in ast.walk(ast.parse(program)))


def _variants(text: str) -> list[Schema]:
    made = []
    for given in ({}, {"table": text}, {"field": text}):
        try:
            made.append(_schema(text, **given))
        except KeyfoldError:
            # A design that is refused makes no program.
            assert given
    return made


@pytest.mark.parametrize("text", HOSTILE)
def test_a_name_is_no_code_in_exported_python(text: str) -> None:
    usual = _shape(FORMATS["cdk"](_schema("notes")))
    for schema in _variants(text):
        assert _shape(FORMATS["cdk"](schema)) == usual


@pytest.mark.parametrize("text", HOSTILE)
def test_a_name_is_no_code_in_a_declaration(text: str) -> None:
    usual, _ = declaration(_schema("notes"))
    made, _ = declaration(_schema(text))
    assert _shape(made) == _shape(usual)
    assert f"description={json.dumps(text, ensure_ascii=False)}" in made or "\x00" in text


@pytest.mark.parametrize("text", HOSTILE)
def test_a_name_is_no_template_in_terraform(text: str) -> None:
    for schema in _variants(text):
        made = FORMATS["terraform"](schema)
        ours = re.compile(r"(?<!\$)\$\{(?!var\.prefix\}|aws_dynamodb_table\.\w+\.arn\})")
        assert not ours.search(made)
        assert not re.search(r"(?<!%)%\{", made)
        hcl2.loads(made)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_name_is_no_template_in_cloudformation(text: str) -> None:
    for schema in _variants(text):
        made = FORMATS["cloudformation"](schema)
        for each in re.findall(r"\$\{[^}]*\}?", "\n".join(_substituted(yaml.safe_load(made)))):
            assert each.startswith(("${!", "${Prefix}")) or OURS.fullmatch(each)


def _substituted(value: object) -> list[str]:
    if isinstance(value, dict):
        own = [value["Fn::Sub"]] if isinstance(value.get("Fn::Sub"), str) else []
        return own + [text for inner in value.values() for text in _substituted(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in _substituted(inner)]
    return []


def test_alarms_of_names_that_templates_do_not_tell_apart_are_all_there() -> None:
    schema = _schema("notes", table="'''")
    resources = yaml.safe_load(FORMATS["cloudformation"](schema))["Resources"].values()
    made = [one for one in resources if one["Type"] == "AWS::CloudWatch::Alarm"]
    assert len(made) == len(list(alarms(plan(schema))))


def test_tables_that_templates_do_not_tell_apart_are_refused() -> None:
    entities = "".join(
        f"  {name}: {{table: {table}, key: {{id: <id>}}, attributes: {{id: id}}}}\n"
        for name, table in (("One", "user-data"), ("Other", "user.data"))
    )
    tables = "tables: {user-data: {key: [id]}, user.data: {key: [id]}}"
    schema = loads(f"design: d\n{tables}\nentities:\n{entities}")
    for format in ("cloudformation", "cdk"):
        with pytest.raises(KeyfoldError, match=r"user-data and user\.data"):
            FORMATS[format](schema)
