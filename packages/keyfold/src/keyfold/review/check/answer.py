"""Example keys of what a pattern asks for and returns: evidence for the rules about reads."""

from __future__ import annotations

from dataclasses import replace

from keyfold.design.schema import KeyTemplates, PatternSchema
from keyfold.design.template import Literal, Template
from keyfold_engine.limits import PAGE_BYTES
from keyfold.review.check.evidence import Evidence, amount, keys_example, many
from keyfold.review.check.key_sets import Appearance
from keyfold.review.check.reach import Reach, example
from keyfold.review.check.sample import sort_of, text_of
from keyfold.review.keyspace import witness


def wanted_entries(facts: Reach, pattern: PatternSchema) -> list[Appearance]:
    """The requested part of what a pattern returns."""
    return [a for a in facts.reached(pattern) if a.entity.name in pattern.entities]


def asked_key(pattern: PatternSchema) -> str:
    """The key that a pattern asks for, with values in it."""
    partition = f"`{text_of(pattern.partition, None)}`" if pattern.partition else "any partition"
    template = pattern.condition.template
    if template is None:
        return partition
    operator = "" if pattern.condition.operator == "eq" else f"{pattern.condition.operator} "
    return f"{partition} / {operator}`{text_of(template, None)}`"


def returned_key(facts: Reach, pattern: PatternSchema, appearance: Appearance) -> str:
    """A sort key, or partition key without one, that matches the pattern's condition."""
    key, entity = appearance.key, appearance.entity
    if key.sort is None:
        return text_of(key.partition, entity)
    asked = pattern.condition.template
    texts = [sort_of(key, entity)]
    if asked is not None:
        texts.append(f"{text_of(asked, None)}1")
        for space in facts.spaces(key.sort, entity):
            texts += filter(
                None, (witness(a.with_any_end(), space) for a in facts.spaces(asked, None))
            )
            texts.append(f"{space.literal_prefix}1")
    for text in texts:
        fixed = KeyTemplates(key.partition, Template((Literal(text),)))
        if key.sort.matches(text) and facts.meets_condition(
            pattern, replace(appearance, key=fixed)
        ):
            return text
    return example(key.sort)


def page(facts: Reach, pattern: PatternSchema, strangers: list[Appearance]) -> Evidence:
    """Keys that one page of a pattern can contain, wanted ones first."""
    rows = [
        (f"`{returned_key(facts, pattern, a)}`", f"{a.entity.name}{word}")
        for some, word in (
            (wanted_entries(facts, pattern)[:1], ""),
            (strangers[:2], ", not asked for"),
        )
        for a in some
    ]
    return keys_example("one page holds", *rows)


def pages(facts: Reach, pattern: PatternSchema) -> Evidence:
    """The number of requests as an answer grows."""
    size = facts.size(pattern)
    counts = (1_000, 100_000, 10_000_000)
    rows = (
        (many(count, "item"), many(-(-count * size // PAGE_BYTES), "request")) for count in counts
    )
    return keys_example(f"at {amount(size)} bytes an item", *rows)
