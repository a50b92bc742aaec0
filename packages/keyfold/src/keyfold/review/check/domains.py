"""Where rules look: the rows of elements of a design."""

from __future__ import annotations

from itertools import combinations

from keyfold.review.check.rule import Domain

DESIGN = Domain("schema", lambda facts: (facts.schema,))
TABLES = Domain("table", lambda facts: facts.schema.tables)
ENTITIES = Domain("entity", lambda facts: facts.schema.entities)
PATTERNS = Domain("pattern", lambda facts: facts.schema.patterns)
OPERATIONS = Domain("operation", lambda facts: facts.schema.operations)
WRITES = Domain("operation effect", lambda facts: facts.all_writes)
KEYS = Domain("entity key placement", lambda facts: facts.all_keys)
KEY_TEMPLATES = Domain(
    "entity placement template kind",
    lambda facts: (
        (entity, placement, template, kind)
        for entity, key, placement in facts.all_keys
        for template, kind in ((key.partition, "partition"), (key.sort, "sort"))
        if template is not None
    ),
)
PLACEMENTS = Domain(
    "entity placement table index",
    lambda facts: (
        (entity, placement, table, table.index(placement.index))
        for entity in facts.schema.entities
        for table in (facts.schema.by_table[entity.table],)
        for placement in entity.placements
    ),
)
INDEXES = Domain(
    "table index", lambda facts: ((t, i) for t in facts.schema.tables for i in t.indexes)
)
INDEX_PAIRS = Domain(
    "table first second",
    lambda facts: ((t, *pair) for t in facts.schema.tables for pair in combinations(t.indexes, 2)),
)
READINGS = Domain(
    "table index pattern",
    lambda facts: (
        (table, index, pattern)
        for table in facts.schema.tables
        for index in table.indexes
        for pattern in facts.schema.patterns
        if (pattern.table, pattern.index) == (table.name, index.name)
    ),
)
UPDATES = Domain(
    "entity operation effect",
    lambda facts: (
        (entity, operation, effect)
        for entity in facts.schema.entities
        for operation, effect in facts.writes(entity.name, "update")
    ),
)
ATTRIBUTES = Domain("entity attribute", lambda facts: facts.all_attributes)
STATES = Domain(
    "entity attribute", lambda facts: (row for row in facts.all_attributes if row[1].states)
)
DELETES = Domain(
    "entity operation",
    lambda facts: (
        (entity, operation)
        for entity in facts.schema.entities
        for operation, _ in facts.writes(entity.name, "delete")
    ),
)
CONSUMERS = Domain("consumer", lambda facts: facts.schema.consumers)
FEEDS = Domain("feed", lambda facts: facts.schema.feeds)
SEARCHES = Domain("search", lambda facts: facts.schema.searches)
STEPS = Domain("step", lambda facts: facts.schema.steps)
