"""Detects the kind of a source by name and content; each kind has its own module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from keyfold.design.source import Place
from keyfold.errors import KeyfoldError
from keyfold_workbench.adopt import item_sample
from keyfold_workbench.adopt.document import design as document
from keyfold_workbench.adopt.sources import (
    cloudformation,
    electrodb,
    endpoint,
    pynamodb,
    terraform,
    workbench,
)
from keyfold_workbench.adopt.sources.material import Imported, SourceError
from keyfold_workbench.adopt.sources.text_files import read_records, read_text

KINDS = (
    "a design document in Markdown (.md), a CloudFormation or SAM template, CDK's cdk.out, "
    "Terraform files or `terraform show -json`, serverless.yml, a NoSQL Workbench model, JSON of "
    "ElectroDB, a design file, a sample of keyfold inspect, package.module of PynamoDB's models, "
    "or an endpoint's address"
)
_ADDRESSES = ("http://", "https://", "dynamodb:")
DOCUMENTS = (".md", ".markdown")
_FILES = (*DOCUMENTS, ".json", ".yaml", ".yml", ".tf", ".template", ".txt", ".py")
_DATABASES = (".db", ".sqlite", ".sqlite3")
_JSON: tuple[tuple[Callable[[Any], Any], Callable[[Any, str], Imported]], ...] = (
    (cloudformation.is_template, cloudformation.read),
    (workbench.is_model, workbench.read),
    (terraform.is_shown, terraform.read_shown),
)


def read(source: str, *, table: str = "") -> Imported:
    """Read a source; `table` names the table of models that do not name theirs."""
    if source.startswith(_ADDRESSES) or source.endswith(_DATABASES):
        return _live(source)
    path = Path(source)
    if path.is_dir():
        return _folder(path)
    if path.exists():
        return _file(path, table)
    if path.suffix in _FILES:
        raise KeyfoldError(f"No such file: {source}")
    if all(part.isidentifier() for part in source.partition(":")[0].split(".")):
        return pynamodb.read(source)
    raise KeyfoldError(f"Not found: {source}. A source is {KINDS}.")


def _live(source: str) -> Imported:
    from keyfold_engine.clients import connect

    if source.endswith(_DATABASES) and not Path(source).exists():
        raise KeyfoldError(f"the data file {source} does not exist")
    client = connect(source)
    try:
        return endpoint.read(client, source)
    finally:
        client.close()


def _folder(path: Path) -> Imported:
    templates = sorted(path.glob("*.template.json"))
    if templates:
        return _join([_file(each, "") for each in templates if _has_tables(each)], path)
    files = sorted(path.glob("*.tf"))
    if files:
        return terraform.read({str(each): read_text(each) for each in files}, str(path))
    raise KeyfoldError(f"{path} has neither *.template.json (cdk.out) nor *.tf (Terraform)")


def _has_tables(path: Path) -> bool:
    return "AWS::DynamoDB::" in read_text(path)


def _join(parts: list[Imported], path: Path) -> Imported:
    if not parts:
        raise KeyfoldError(f"{path}: no template in it has a table")
    first = Imported("CDK", str(path))
    for part in parts:
        first.tables += part.tables
        first.questions += part.questions
    return first


def _file(path: Path, table: str) -> Imported:
    text = read_text(path)
    if item_sample.is_saved(text.partition("\n")[0]):
        return _sample(path)
    return _text(text, str(path), table)


def read_texts(files: Mapping[str, str], *, table: str = "") -> list[Imported]:
    """Read texts by file name; Terraform files are read together."""
    modules = {file: text for file, text in files.items() if file.endswith(".tf")}
    found = [_text(text, file, table) for file, text in files.items() if file not in modules]
    return [*found, *([terraform.read(modules, next(iter(modules)))] if modules else ())]


def _text(text: str, source: str, table: str) -> Imported:
    if source.endswith(".tf"):
        return terraform.read({source: text}, source)
    if source.endswith(DOCUMENTS):
        return document.imported(text, source)
    data = read_records(text, source)
    if isinstance(data, dict) and ("design" in data or isinstance(data.get("tables"), dict)):
        return _design(text, source)
    for is_kind, take in _JSON:
        if is_kind(data):
            return take(data, source)
    if isinstance(data, dict) and "service" in data and "provider" in data:
        return cloudformation.read_serverless(data, source)
    if electrodb.models(data):
        return electrodb.read(data, source, table=table)
    raise SourceError(Place(source, 1), f"unknown source; use one of: {KINDS}")


def _design(text: str, source: str) -> Imported:
    from keyfold.design.file import loads

    schema = loads(text, file=source)
    found = Imported("design file", source, name=schema.name)
    found.tables += schema.tables
    found.entities += schema.entities
    found.patterns += schema.patterns
    return found


def _sample(path: Path) -> Imported:
    taken = item_sample.load(path)
    found = Imported("sample", str(path))
    found.items[taken.table] = list(taken.items)
    return found
