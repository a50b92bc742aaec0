"""What a line means by its section: tables, indexes and items that headings and labels name."""

from keyfold.design.file import loads
from keyfold_workbench.adopt.document.comparison import compare
from keyfold_workbench.adopt.document.design import DocumentDesign, design_of


def entities(found: DocumentDesign) -> dict[str, tuple[str, str]]:
    """Each entity with both sides of its key."""
    return {
        entity.name: (str(entity.key.partition), str(entity.key.sort))
        for entity in found.schema.entities
        if entity.key
    }


def reads(found: DocumentDesign) -> list[tuple[str, str, str | None, str]]:
    return [(p.name, p.kind, p.index, str(p.partition)) for p in found.schema.patterns]


def placed(found: DocumentDesign, entity: str) -> dict[str, tuple[str, str]]:
    placements = found.schema.by_entity[entity].placements
    return {p.index: (str(p.key.partition), str(p.key.sort)) for p in placements}


TABLES = """# \u8a2d\u8a08\u66f8

## 1. Shops - \u5e97

### \u30c6\u30fc\u30d6\u30eb\u540d
`shops`

### \u30ad\u30fc\u8a2d\u8a08

| \u5c5e\u6027\u540d | \u578b | \u30ad\u30fc\u7a2e\u5225 |
|---|---|---|
| shopId | String | PK (Partition Key) |

#### GSI-1: OwnerIndex
- **PK**: ownerId (String)

### \u30a2\u30af\u30bb\u30b9\u30d1\u30bf\u30fc\u30f3
1. One shop\uff08PK\uff09
2. Shops of an owner\uff08GSI-1\uff09
3. \u5e97\u306e\u66f4\u65b0\uff08PK\uff09

## 2. FavouriteShops - \u304a\u6c17\u306b\u5165\u308a

### \u30c6\u30fc\u30d6\u30eb\u540d
`favourite-shops`

| \u5c5e\u6027\u540d | \u578b | \u30ad\u30fc\u7a2e\u5225 |
|---|---|---|
| userId | String | PK (Partition Key) |
| shopId | Number | SK (Sort Key) |

#### GSI-1: ShopIndex
- **PK**: shopId (Number)

### \u30a2\u30af\u30bb\u30b9\u30d1\u30bf\u30fc\u30f3
1. Favourites of a user\uff08PK\uff09
2. One favourite\uff08PK + SK\uff09
"""


def test_each_section_with_the_name_of_a_table_has_its_own_keys_numbers_and_reads() -> None:
    found = design_of(TABLES, "shops.md")
    tables = {t.name: (t.key_text, [i.name for i in t.indexes]) for t in found.schema.tables}
    assert tables == {
        "shops": ("shopId", ["OwnerIndex"]),
        "favourite-shops": ("userId / shopId", ["ShopIndex"]),
    }
    assert reads(found) == [
        ("One shop", "get", None, "{shopId}"),
        ("Shops of an owner", "query", "OwnerIndex", "{ownerId}"),
        ("Favourites of a user", "query", None, "{userId}"),
        ("One favourite", "get", None, "{userId}"),
    ]
    assert found.questions == []


def test_an_attribute_has_the_type_that_its_table_gives_to_its_key() -> None:
    found = design_of(TABLES, "shops.md")
    kinds = {a.name: a.type for a in found.schema.by_entity["FavouriteShop"].attributes}
    assert kinds == {"userId": "string", "shopId": "number"}


def test_a_document_may_have_several_headings_of_the_first_order() -> None:
    text = """# Shop design

# Primary key

```text
PK: string
SK: string
```

# Order item

```text
PK = ORDER#<orderId>
SK = ORDER
```

# Access patterns

## Show an order

Order key:

```text
PK = ORDER#<orderId>
SK = ORDER
```

## Place an order

Order put key:

```text
PK = ORDER#<orderId>
SK = ORDER
```
"""
    found = design_of(text, "shop.md")
    assert [t.key_text for t in found.schema.tables] == ["PK / SK"]
    assert entities(found) == {"Order": ("ORDER#{orderId}", "ORDER")}
    assert reads(found) == [("Show an order", "get", None, "ORDER#{orderId}")]


INDEXED = """# News

## News table (`news`)

| Attribute | Type | Description |
|---|---|---|
| **PK** | `id` (String) | UUID |
| **SK** | `id` (String) | Same as PK |
| status | String | `draft` \\| `published` |

**Global secondary indexes:**

1. **GSI-Status** (for lists)
   - PK: `status` (partition key)
   - SK: `at` (sort key)

2. **GSI-Slug**
   - PK: `slug` (partition key)
   - SK: `slug` (sort key)

**TTL configuration:**
- Attribute: `until`

**Access patterns:**
- One: `GetItem(PK=id)`
- Published: `Query(GSI-Status, PK='published', SK descending)`
"""


def test_a_name_with_gsi_is_the_indexs_and_pk_stands_for_its_attribute() -> None:
    found = design_of(INDEXED, "news.md")
    [table] = found.schema.tables
    assert (table.key_text, table.ttl) == ("id", "until")
    assert {i.name: i.key_text for i in table.indexes} == {
        "GSI-Status": "status / at",
        "GSI-Slug": "slug",
    }
    assert reads(found) == [
        ("One", "get", None, "{id}"),
        ("Published", "query", "GSI-Status", "published"),
    ]
    assert [question.split(":")[0] for question in found.questions] == ["line 8", "line 18"]


def test_parts_of_an_attribute_are_no_attributes_of_the_item() -> None:
    text = """# Settings

| Property | Value |
|---|---|
| **Table name** | `settings` |
| **Partition key** | `userId` (String) |

## Fields

| Field | Type | Required | Description |
|---|---|---|---|
| `userId` | String | Yes | (Primary key) |
| `mail` | Map | No | How mail is sent |

### `mail` Object

| Field | Type | Required | Description |
|---|---|---|---|
| `host` | String | Yes | Server |
"""
    found = design_of(text, "settings.md")
    [entity] = found.schema.entities
    assert entity.name == "setting"
    assert {a.name: (a.type, a.optional) for a in entity.attributes} == {
        "userId": ("string", False),
        "mail": ("map", True),
    }


def test_a_partition_above_items_with_sort_keys_only_is_theirs() -> None:
    text = """# Trips

## Trip aggregate

Records are below `pk = TRIP#<tripId>`. The sort key names them.

| Entity | `sk` |
|---|---|
| Trip | `META` |
| Member | `MEMBER#<userId>` |
"""
    found = design_of(text, "trips.md")
    assert entities(found) == {
        "Trip": ("TRIP#{tripId}", "META"),
        "Member": ("TRIP#{tripId}", "MEMBER#{userId}"),
    }
    assert any("line 5: Is TRIP#<tripId> the partition key of" in q for q in found.questions)


def test_the_kind_of_an_item_names_it_where_a_section_has_several() -> None:
    row = "| Attribute | Value |\n|---|---|\n| `pk` | `{}` |\n| `sk` | `{}` |\n"
    text = (
        "# Users\n\n## Records\n\n"
        + row.format("USER#<userId>", "PROFILE")
        + "| `entity_type` | `USER_PROFILE` |\n\nA claim points to it:\n\n"
        + row.format("MAIL#<mail>", "CLAIM")
        + "| `entity_type` | `MAIL_CLAIM` |\n"
    )
    assert entities(design_of(text, "users.md")) == {
        "UserProfile": ("USER#{userId}", "PROFILE"),
        "MailClaim": ("MAIL#{mail}", "CLAIM"),
    }


EXAMPLES = """# School

**Table name:** `school`

### Pupil (of a school)
```
pk: PUPIL#SCH01#P01        # Main table
sk: #META
entityType: PUPIL
schoolId: SCH01
pupilId: P01
email: a@example.org
gsi1pk: SCHOOL#SCH01       # GSI1: Query the pupils of a school
gsi1sk: PUPIL#P01
gsi2pk: MAIL
gsi2sk: a@example.org
```

### Counter
```
pk: COUNTER#SCH01
sk: #META
pupils: 12
```

## Query patterns
```java
GET pk="PUPIL#SCH01#P01", sk="#META"              // One pupil
QUERY GSI1 gsi1pk="SCHOOL#SCH01"                  // Pupils of a school
QUERY GSI2 gsi2pk="MAIL", gsi2sk="b@example.org"  // Pupil by mail
```
"""


def test_an_example_told_in_lines_is_read_by_the_values_of_its_attributes() -> None:
    found = design_of(EXAMPLES, "school.md")
    assert entities(found)["Pupil"] == ("PUPIL#{schoolId}#{pupilId}", "#META")
    assert placed(found, "Pupil") == {
        "GSI1": ("SCHOOL#{schoolId}", "PUPIL#{pupilId}"),
        "GSI2": ("MAIL", "{email}"),
    }
    names = [name for name, *_ in reads(found)]
    assert names == ["One pupil", "Pupils of a school", "Pupil by mail"]
    assert str(found.schema.patterns[2].condition.template) == "{email}"
    asked = "\n".join(found.questions)
    assert "PUPIL#<schoolId>#<pupilId> is read from an example" in asked
    assert "COUNTER#SCH01 is an example" in asked


def test_an_id_alone_is_an_example() -> None:
    text = """# Questions

## Question
- Query on **PK** to list the questions.
- GetItem on **(PK+SK)** to show a question.
```json
  "PK": "QUESTION",
  "SK": "550e8400-e29b-41d4-a716-446655440000",
  "text": "Why?"
```
"""
    found = design_of(text, "questions.md")
    assert entities(found) == {"Question": ("QUESTION", "{questionId}")}
    assert [read[:2] for read in reads(found)] == [
        ("list the questions", "query"),
        ("show a question", "get"),
    ]
    assert any("line 8" in question for question in found.questions)


PARTITIONS = """# Projects

## Keys

| Entity | PK | SK |
|---|---|---|
| Project metadata | `ORG#<orgId>#PROJECT#<projectId>` | `META` |
| Task | `ORG#<orgId>#PROJECT#<projectId>` | `TASK#<taskId>` |

## GSI1 \u2014 Ownership

**Index name:** `by-owner`

| Use case | GSI1PK | GSI1SK |
|---|---|---|
| Task by assignee | `ORG#<orgId>#ASSIGNEE#<userId>` | `DUE#<date>#TASK#<taskId>` |
| Projects by program | `ORG#<orgId>#PROGRAM#<programId>` | `PROJECT#<projectId>` |

## Access patterns

| Access pattern | Operation |
|---|---|
| One project | `GetItem` project `META` |
| One task | `GetItem` project PK + task SK |
| Tasks of a project | `Query` project PK, `begins_with(SK, TASK#)` |
| My tasks | `Query` GSI1 assignee partition |
| Recent tasks | `Query` project PK, newest on `TASK#` |
"""


def test_rows_of_an_indexs_keys_are_placements_and_reads() -> None:
    found = design_of(PARTITIONS, "projects.md")
    by_task = {"by-owner": ("ORG#{orgId}#ASSIGNEE#{userId}", "DUE#{date}#TASK#{taskId}")}
    assert placed(found, "Task") == by_task
    assert placed(found, "ProjectMetadata") == {
        "by-owner": ("ORG#{orgId}#PROGRAM#{programId}", "PROJECT#{projectId}")
    }
    assert reads(found)[:2] == [
        ("Task by assignee", "query", "by-owner", "ORG#{orgId}#ASSIGNEE#{userId}"),
        ("Projects by program", "query", "by-owner", "ORG#{orgId}#PROGRAM#{programId}"),
    ]


def test_a_partition_told_by_its_last_word_is_read_and_asked_about() -> None:
    found = design_of(PARTITIONS, "projects.md")
    project = "ORG#{orgId}#PROJECT#{projectId}"
    assert reads(found)[2:] == [
        ("One project", "get", None, project),
        ("One task", "get", None, project),
        ("Tasks of a project", "query", None, project),
        ("My tasks", "query", "by-owner", "ORG#{orgId}#ASSIGNEE#{userId}"),
        ("Recent tasks", "query", None, project),
    ]
    asked = "\n".join(found.questions)
    for line in range(23, 28):
        assert f"line {line}: " in asked
    assert "line 27: Recent tasks: which part of the partition?" in asked


def test_the_template_of_a_key_attribute_of_an_index_belongs_to_the_item_that_has_it() -> None:
    text = """# Lists

## Table: `tasks`

**Keys:**
- Partition key: `userId` (String)
- Sort key: `taskId` (String)

**Attributes:**
- `due`: when it is due
- `userList`: user and list

## GSI

### UserListIndex

- Partition key: `userList` (String)
- Sort key: `due` (String)

## Composite keys

1. **userList**: `${userId}#${listId}`

## Access patterns

1. **Tasks of a list**
   ```
   Query on tasks using UserListIndex
   KeyConditionExpression: userList = :userList
   ```

2. **One task**
   ```
   GetItem on tasks
   Key: { userId, taskId }
   ```
"""
    found = design_of(text, "lists.md")
    assert placed(found, "task") == {"UserListIndex": ("{userId}#{listId}", "{due}")}
    assert [read[:3] for read in reads(found)] == [
        ("Tasks of a list", "query", "UserListIndex"),
        ("One task", "get", None),
    ]


def test_a_read_in_code_ends_where_the_next_call_begins() -> None:
    text = """# Reviews

- **Review**: `PK=REVIEW#<reviewId>`, `SK=VERSION#<n>`

## Access patterns

```python
# All versions
table.query(
    KeyConditionExpression='PK = :pk',
    ExpressionAttributeValues={':pk': f'REVIEW#{review_id}'},
)
# One version
table.get_item(
    Key={'PK': f'REVIEW#{review_id}', 'SK': f'VERSION#{n}'}
)
# Everything
table.scan(FilterExpression='open = :open')
```
"""
    found = design_of(text, "reviews.md")
    conditions = {p.name: (p.kind, p.condition.operator) for p in found.schema.patterns}
    assert conditions == {
        "All versions": ("query", "none"),
        "One version": ("get", "eq"),
        "Everything": ("scan", "none"),
    }


def test_examples_in_lines_and_reasons_for_a_key_are_no_statements() -> None:
    text = """# Days

### Date lookup item
- PK = DATE#<day>
- SK = <slug>

Examples:
- PK = DATE#04-13
- SK = martin

## Key patterns

- **Run items**
  - `PK = "RUN#{runId}"`
  - `SK = "RUN"`

> A single query on `PK = "RUN#{runId}"` returns all of it.
"""
    found = design_of(text, "days.md")
    run = ("RUN#{runId}", "RUN")
    assert entities(found) == {"DateLookup": ("DATE#{day}", "{slug}"), "Run": run}
    assert found.schema.patterns == ()
    assert found.questions == []


def test_a_key_schema_tells_the_stream_and_what_an_index_projects() -> None:
    text = """# Tables

```json
{"Table": {"TableName": "people",
  "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"},
                           {"AttributeName": "town", "AttributeType": "S"}],
  "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
  "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_IMAGE"},
  "GlobalSecondaryIndexes": [{"IndexName": "town-index",
    "KeySchema": [{"AttributeName": "town", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "KEYS_ONLY"}}]}}
```
"""
    [table] = design_of(text, "tables.md").schema.tables
    assert table.stream == "NEW_IMAGE"
    assert table.indexes[0].projection == "KEYS_ONLY"


BOXES = """# Events

## Tables

```
\u250c\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2510
\u2502   shop-config   \u2502
\u251c\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2524
\u2502 PK: ORG#{orgId}   SK: USER#{userId}  \u2502
\u2502 PK: ORG#{orgId}   SK: TEAM#{teamId}  \u2502
\u2514\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2518

\u250c\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2510
\u2502   shop-events   \u2502
\u251c\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2524
\u2502 PK: ORG#{orgId}         \u2502
\u2502 SK: EVENT#{at}#{eventId} \u2502
\u2502                         \u2502
\u2502 GSI-1 (by team): PK=TEAM#{teamId}  SK=EVENT#{at} \u2502
\u2502 GSI-2 (by day): PK=same  SK=DAY#{day} \u2502
\u2514\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2518
```

## Access patterns

| Access pattern | Table | Key condition | Index |
|---|---|---|---|
| Events | events | PK=`ORG#{id}` | Base |
| Events of a team | events | PK=`TEAM#{id}` | GSI-1 |
| Events of all teams | events | PK=`TEAM#ALL` | GSI-1 |
"""


def test_tables_drawn_as_boxes_are_read_with_an_item_in_each_line() -> None:
    found = design_of(BOXES, "events.md")
    assert entities(found) == {
        "User": ("ORG#{orgId}", "USER#{userId}"),
        "Team": ("ORG#{orgId}", "TEAM#{teamId}"),
        "ShopEvent": ("ORG#{orgId}", "EVENT#{at}#{eventId}"),
    }
    assert {e.name: e.table for e in found.schema.entities}["ShopEvent"] == "shop-events"
    assert placed(found, "ShopEvent") == {
        "GSI1": ("TEAM#{teamId}", "EVENT#{at}"),
        "GSI2": ("ORG#{orgId}", "DAY#{day}"),
    }
    assert [read[1:3] for read in reads(found)] == [("query", None), *[("query", "GSI1")] * 2]
    assert any("is ALL meant, or any <teamId>?" in question for question in found.questions)


def test_keys_told_by_their_attributes_are_those_of_the_only_table() -> None:
    text = """# Lessons

Table name: `{project}-{stage}-lessons`
TTL attribute: `ttl` (Unix timestamp)

## Key structure

| Key | Attribute | Type |
|---|---|---|
| PK | `lessonId` | String |
| SK | `questionId` | String |

Both tables share the same structure:

- **Partition key:** `lessonId` (String)

## Item types

### Lesson item

| Attribute | Type | Description |
|---|---|---|
| `lessonId` | S | The lesson (PK) |
| `topic` | S | What it is about |
"""
    [table] = design_of(text, "lessons.md").schema.tables
    assert (table.name, table.key_text, table.ttl) == ("lessons", "lessonId / questionId", "ttl")


def test_an_example_has_the_attributes_of_its_first_level_only() -> None:
    text = """# Memos

## Memo
```json
{
  "PK": "MEMO#m-1",
  "SK": "META",
  "memoId": "m-1",
  "content": {
    "title": "string",
    "length": number
  }
}
```
"""
    found = design_of(text, "memos.md")
    names = {a.name for a in found.schema.by_entity["Memo"].attributes}
    assert {"title", "length"} & names == set()


def test_pk_and_ttl_may_be_words_for_attributes_that_are_told_by_name() -> None:
    text = (
        TABLES
        + "\n### \u5c5e\u6027\n\n| \u5c5e\u6027\u540d | \u578b | \u8aac\u660e |\n|---|---|---|\n"
        + "| ttl | Number | TTL\uff0830\u65e5\uff09 |\n\n"
        + "- **PK**: \u8ab0\u306e\u304a\u6c17\u306b\u5165\u308a\u304b\n"
    )
    found = design_of(text, "shops.md")
    favourites = next(t for t in found.schema.tables if t.name == "favourite-shops")
    assert (favourites.key_text, favourites.ttl) == ("userId / shopId", "ttl")
    assert {each.verdict for each in compare(found.reading, found.schema)} == {"agrees"}


def test_a_key_attribute_may_have_the_name_of_a_type() -> None:
    text = "# Logs\n\n## Table: `logs`\n\n```\nPK: email\nSK: timestamp\n```\n"
    [table] = design_of(text, "logs.md").schema.tables
    assert table.key_text == "email / timestamp"


def test_an_index_told_by_the_keys_of_its_number_is_said() -> None:
    found = design_of(BOXES, "events.md")
    design = DESIGN_OF_BOXES
    verdicts = {(each.verdict, each.subject) for each in compare(found.reading, loads(design))}
    assert ("not said", "shop-events.by-team") not in verdicts
    assert ("not said", "shop-events.by-month") in verdicts


DESIGN_OF_BOXES = """design: events
tables:
  shop-events:
    key: [PK, SK]
    indexes:
      by-team: {key: [GSI1PK, GSI1SK]}
      by-month: {key: [month]}
"""


def test_several_partitions_of_a_section_are_not_shared() -> None:
    text = """# Trips

## Trips and users

- **Trip**: `pk = TRIP#<tripId>`
- **User**: `pk = USER#<userId>`

| Entity | `sk` |
|---|---|
| Member | `MEMBER#<userId>` |
"""
    found = design_of(text, "trips.md")
    assert "Member" not in entities(found)
    assert any("Member: the partition key is not understood" in q for q in found.questions)
