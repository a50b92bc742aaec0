"""YAML and JSON files as records with line numbers, including CloudFormation's short tags."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from keyfold.design.source import Place
from keyfold.design.yaml_text import DesignFileError, read_yaml
from keyfold.errors import KeyfoldError
from keyfold_workbench.adopt.sources.material import PlacedMapping, SourceError, with_place

MOST_BYTES = 64 * 1024 * 1024
_SHORT = {"Ref": "Ref", "Condition": "Condition"}


def read_text(path: Path) -> str:
    """A file's text."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise KeyfoldError(f"{path}: the file is larger than {MOST_BYTES >> 20} MB")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise KeyfoldError(f"{path}: the file is not UTF-8 text") from None
    except OSError as error:
        raise KeyfoldError(f"{path}: the file cannot be read: {error.strerror}") from None


def read_records(text: str, file: str) -> Any:
    """The content of a YAML or JSON text; mappings are records with positions."""
    if file.endswith(".json") or text.lstrip()[:1] in ("{", "["):
        try:
            plain = json.loads(text)
        except json.JSONDecodeError as error:
            raise SourceError(Place(file, error.lineno), f"this is not JSON: {error.msg}") from None
        except RecursionError:
            raise SourceError(Place(file, 1), "this is nested too deeply") from None
        try:
            return _compose(text, file)
        except (SourceError, KeyfoldError):
            # JSON that YAML rejects (tabs): its line numbers are unknown.
            return with_place(plain, Place(file, 1))
    return _compose(text, file)


def _compose(text: str, file: str) -> Any:
    try:
        node = read_yaml(text, file)
    except DesignFileError as error:
        raise SourceError(error.place, error.message) from None
    return _value(node, file) if node is not None else None


def _value(node: yaml.Node, file: str) -> Any:
    place = Place(file, node.start_mark.line + 1)
    if node.tag.startswith("!"):
        return _read_tagged(node, file, place)
    if isinstance(node, yaml.MappingNode):
        found = PlacedMapping()
        found.place = place
        for key, inner in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else ""
            merged = _value(inner, file)
            if key.tag.endswith(":merge") and isinstance(merged, dict):
                for inherited, content in merged.items():
                    found.setdefault(inherited, content)
                continue
            found[str(name)] = merged
        return found
    if isinstance(node, yaml.SequenceNode):
        return [_value(inner, file) for inner in node.value]
    try:
        return yaml.SafeLoader("").construct_object(node)
    except (ValueError, OverflowError, yaml.YAMLError):
        return str(node.value)


def _read_tagged(node: yaml.Node, file: str, place: Place) -> PlacedMapping:
    """`!Sub x` is `{"Fn::Sub": "x"}`."""
    tag = node.tag.lstrip("!")
    name = _SHORT.get(tag, f"Fn::{tag}")
    plain = type(node)(node.tag, node.value, node.start_mark, node.end_mark)
    kind = {"MappingNode": "map", "SequenceNode": "seq"}.get(type(node).__name__, "str")
    plain.tag = f"tag:yaml.org,2002:{kind}"
    inner = _value(plain, file)
    if name == "Fn::GetAtt" and isinstance(inner, str):
        inner = inner.split(".", 1)
    found = PlacedMapping({name: inner})
    found.place = place
    return found
