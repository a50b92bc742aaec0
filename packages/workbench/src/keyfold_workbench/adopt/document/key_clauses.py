"""What a text says of key attributes: `PK=USER#<id>`, `begins_with(SK, …)`, `Key("PK").eq(…)`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, cast

from keyfold_workbench.adopt.document.key_side import KeyNames, KeySide, key_side
from keyfold_workbench.adopt.document.key_text import ABSENT, WrittenKey, key_text, open_text

Operator = Literal["=", "<", "<=", ">", ">=", "begins_with", "between"]

_HOLE = r"[$#]?\{\{?[^{}\n]*\}\}?|<[^<>\n=]*>|\[[^\[\]\n]*\]"
_VALUE = rf"f?\"[^\"\n]*\"|f?'[^'\n]*'|(?:{_HOLE}|[^\s,;()\"'|&{{}}<>\[\]])+"
_STARTS = r"(?:startsWith|starts?[ _]with|begins?[ _]with|beginsWith)"
_OPEN = r"[\"']?(?:\s*\((?:partition key|sort key|pk|sk|hash|range|string|s)\))?[\"']?"
_SIGNS = {"==": "=", ":": "=", "\u2192": "=", "->": "=", "=>": "=", "is": "=",
          "equals": "=", "to": "=",
          "eq": "=", "equal": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=",
          "greaterthan": ">", "lessthan": "<"}  # fmt: skip
_LIMIT = 20_000
"""Characters of one block that are searched; a longer one is no statement."""


@dataclass(frozen=True)
class KeyClause:
    """One condition on a key attribute, or the template of one."""

    side: KeySide
    operator: Operator
    values: tuple[WrittenKey | None, ...]
    raw: str
    """As the document writes it."""
    start: int = 0
    """Where in the text it was found."""

    @property
    def value(self) -> WrittenKey | None:
        return self.values[0]


def key_clauses(text: str, names: KeyNames, *, reads: bool = False) -> list[KeyClause]:
    """Every clause of a text; where `reads` are told also `PK USER#<id>` and attributes by name."""
    found, _ = _search(text, names, reads=reads)
    return found


def unread_sides(text: str, names: KeyNames) -> list[str]:
    """Key attributes that a text mentions with a condition that is not understood."""
    _, left = _search(text, names, reads=True)
    known = names.pattern(plain_names=True)
    asked = (
        rf"(?i)(?:{known}){_OPEN}\s*(?:=|<|>|{_STARTS}|between\b|in\b|\?)"
        rf"|{_STARTS}\s*\(\s*(?:{known})"
    )
    return [hit[0].strip() for hit in re.finditer(asked, left)]


def _search(text: str, names: KeyNames, *, reads: bool) -> tuple[list[KeyClause], str]:
    if len(text) > _LIMIT:
        return [], ""
    written = _as_written(text)
    text = _with_values(written)
    defines = re.compile(r"[\"'][#:]$" if text != written else r"[\"']#$")
    attribute = names.pattern(plain_names=reads)
    pattern = re.compile(
        rf"(?i){_STARTS}\s*\(\s*[\"'#]?(?P<c>{attribute}){_OPEN}\s*,\s*(?P<cv>{_VALUE})\s*\)"
        rf"|\bkey\(\s*[\"'](?P<k>{attribute})[\"']\s*\)\s*\.\s*(?P<kop>\w+)\(\s*(?P<kv>"
        rf"{_VALUE})(?:\s*,\s*(?P<kw>{_VALUE}))?"
        rf"|(?P<b>{attribute}){_OPEN}\s*[:=]?\s*{_STARTS}\s*\(?\s*(?P<bv>{_VALUE})\s*\)?"
        rf"|(?P<r>{attribute}){_OPEN}\s*between\s*\(?(?P<lo>{_VALUE})\s*(?:\band\b|,|"
        rf"\.\.)\s*(?P<hi>{_VALUE})"
        rf"|(?P<a>{attribute}){_OPEN}\s*(?P<op>>=|<=|==|=>|(?:->|\u2192)(?=\s*\S*[#{{<])|=|"
        rf">|<(?![A-Za-z][\w ]*>)|:(?!:)|\bequals\b|\bis\b(?=\s+\S*#)|"
        rf"\bto\b(?=\s*\"))\s*(?:[<>]=?\s*(?=\"))?(?P<av>{_VALUE})"
        + (
            rf"|(?P<n>{attribute}){_OPEN}\s+(?P<nv>(?:{_HOLE}|[\w.:-])+#(?:{_VALUE})?)"
            if reads
            else ""
        )
    )
    found: list[KeyClause] = []
    left = text
    for hit in pattern.finditer(text):
        clause = _clause(hit, names)
        # "#pk": "orderId" names a key; ":pk": "o-17" is the value of a condition that is read
        if clause is None or defines.search(text[max(0, hit.start() - 2) : hit.start()]):
            continue
        found.append(clause)
        left = left[: hit.start()] + " " * len(hit[0]) + left[hit.end() :]
    return found, left


def _clause(hit: re.Match[str], names: KeyNames) -> KeyClause | None:
    at = hit.groupdict()
    name = next(at[group] for group in ("c", "k", "b", "r", "a", "n") if at.get(group))
    side = key_side(name, names)
    raw = " ".join(hit[0].split())
    operator = "="
    values = [
        next((at[group] for group in ("cv", "kv", "bv", "lo", "av", "nv") if at.get(group)), "")
    ]
    if at["c"] or at["b"]:
        operator = "begins_with"
    elif at["k"]:
        operator = re.sub(r"_|than", "", at["kop"].lower())
        operator = (
            "begins_with"
            if operator.startswith(("begins", "starts"))
            else _SIGNS.get(operator, operator)
        )
        values += [at["kw"]] if operator == "between" and at["kw"] else []
    elif at["r"]:
        operator, values = "between", [at["lo"], at["hi"]]
    elif at["a"]:
        sign = at["op"].lower()
        range_after = re.search(r":\s*([<>]=?)\s*\"", hit[0])
        operator = range_after[1] if range_after else _SIGNS.get(sign, sign)
    bare = values[0].strip("\"'")
    if re.match(r"\{\s*[\"']?(?:attribute)?name[\"']?\s*:", bare, re.I):
        return None  # a definition in code
    if side is None or key_side(bare) or ABSENT.fullmatch(bare):
        return None
    if operator not in ("=", "<", "<=", ">", ">=", "begins_with", "between"):
        return None
    if at["a"] is not None and at["op"] == ":" and not re.search(r"[#<{$\"'\[]", values[0]):
        goes_on = re.match(r"\s+[^\W\d_A-Z]", hit.string[hit.end() :])
        if name in names.attributes or (goes_on and not bare.isupper()):
            return None  # a sentence about the attribute
    texts = tuple(key_text(value) or open_text(value) for value in values)
    return KeyClause(side, cast("Operator", operator), texts, raw, hit.start())


def _as_written(text: str) -> str:
    """A text of any language with its strings in one notation."""
    text = re.sub(r"`|\*\*|\*(?=\w)|(?<=\w)\*(?!\w)", "", text).replace('\\"', '"')
    text = re.sub(r"\{\s*[\"']?S[\"']?\s*:\s*([\"'][^\"'\n]*[\"']|[^\s{}\"']+)\s*\}", r"\1", text)
    text = re.sub(
        r"(?:new\s+)?AttributeValue(?:\.builder\(\))?(?:Member)?\.?\w*[({]\s*(?:Value:\s*)?"
        r"(\"[^\"\n]*\"(?:\s*\+\s*[\w.]+)*)\s*[)}](?:\.build\(\))?",
        r"\1", text)  # fmt: skip
    text = re.sub(
        r"(?:fmt\.Sprintf|String\.format|format!)\(\s*\"([^\"\n]*)\"((?:\s*,\s*[\w.()]+)*)\s*\)",
        _formatted,
        text,
    )
    while joined := re.search(
        r"\"([^\"\n]*)\"\s*\+\s*([A-Za-z_][\w.]*)(?:\s*\+\s*\"([^\"\n]*)\")?", text
    ):
        text = (
            text[: joined.start()]
            + f'"{joined[1]}{{{joined[2]}}}{joined[3] or ""}"'
            + text[joined.end() :]
        )
    return re.sub(r"(?i)\b(pk)\s*=\s*(sk)\s*=\s*(\S+)", r"\1=\3, \2=\3", text)


def _formatted(found: re.Match[str]) -> str:
    """`Sprintf("USER#%s", id)` as "USER#{id}"."""
    arguments = iter(re.findall(r"[\w.]+", found[2]))
    return '"' + re.sub(r"%\w|\{\}", lambda _: f"{{{next(arguments, '')}}}", found[1]) + '"'


def _with_values(text: str) -> str:
    """A key condition expression with its values in place of `:pk`."""
    values = dict(
        re.findall(
            r"[\"']?(:\w+)[\"']?\s*(?:[=:]|to|,)\s*(f?\"[^\"\n]+\"|f?'[^'\n]+'|(?<=: "
            r")\w+#(?:\$?\{[^{}\n]*\}|[^\s,}{])*)",
            text,
        )
    )
    names = dict(re.findall(r"[\"']?(#\w+)[\"']?\s*(?:[=:]|to|,)\s*[\"']([\w-]+)[\"']", text))
    if not values and not names:
        return text
    given = {**values, **names}
    return re.sub(
        r"(?:(?<![\"'\w])[:#]|(?<=[\"'])#(?=\w+ ?[=<>]))\w+\b"
        r"(?![\"']?\s*(?:[:=]\s*[\"'f{]|to\b|,[^\S\n]*[\"']))",
        lambda hit: given.get(hit[0], hit[0]),
        text,
    )
