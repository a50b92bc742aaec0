"""Each notation of a design document, in a small document of its own.

The notations are those of five seeds and of 45 public documents, listed with the counts in
docs/guide/from-a-document.md. No text is copied from them.
"""

import pytest

from keyfold_workbench.adopt.document.design import design_of

KEYS = {
    "columns PK and SK": """
| Entity | PK | SK |
|---|---|---|
| Order | `ORDER#<orderId>` | `META` |
""",
    "columns in another order, named in full": """
| Sort Key | Record | Partition Key |
|---|---|---|
| META | Order | ORDER#{orderId} |
""",
    "one column for both": """
| Item | PK / SK |
|---|---|
| Order | `ORDER#<orderId>` / `META` |
""",
    "bullets with explained labels": """
### Order
- **PK (Partition Key):** `ORDER#${orderId}` (e.g., `ORDER#17`)
- **SK (Sort Key):** `META`
""",
    "one bullet": """
- **Order**: `PK=ORDER#<orderId>`, `SK=META`
""",
    "attributes with patterns": """
### Order

| Attribute | Type | Pattern |
|---|---|---|
| PK | String | `ORDER#{orderId}` |
| SK | String | `META` |
""",
    "properties of the key": """
### Entity: Order

| Key | Value |
|---|---|
| Partition key | `ORDER#{orderId}` |
| Sort key | `META` |
""",
    "a fence": """
### 1. Orders
```
PK: ORDER#{orderId}
SK: META
```
""",
    "assignments in a cell": """
| Entity | Keys |
|---|---|
| Order | PK=`ORDER#<orderId>`; SK=`META` |
""",
    "assignments in the first cell": """
### Order

| Attribute | Why |
|---|---|
| `PK`: `ORDER#<orderId>` | one order |
| `SK`: `META` | its only item |
""",
    "an example item with the value of its attribute": """
## Order
```json
{
  "PK": "ORDER#o-17",
  "SK": "META",
  "orderId": "o-17"
}
```
""",
    "same as above": """
| Entity | PK | SK |
|---|---|---|
| Line | `ORDER#<orderId>` | `LINE#<n>` |
| Order | same as above | `META` |
""",
    "columns of words in a fence": """
## Items
```
PK                 SK       entity
ORDER#<orderId>    META     Order
ORDER#<orderId>    LINE#<n> Line
```
""".replace("<n> Line", "<n>  Line"),
    "the sides in another language": """
### Order
- **Clave de partici\u00f3n:** `ORDER#{orderId}`
- **Clave de ordenamiento:** `META`
""",
    "a heading for each side": """
### Order

#### Partition key (PK)
- **Format:** `ORDER#{orderId}`

#### Sort key (SK)
- **Format:** `META`
""",
    "a kind in capitals is a literal of an example": """
## Order
```json
{
  "PK": "ORDER#o-17",
  "SK": "META",
  "orderId": "o-17",
  "entityType": "ORDER"
}
```
""",
    "a heading with its keys": """
### Order \u2014 `PK=ORDER#{orderId}  SK=META`

| Attribute | Type |
|---|---|
| total | number |
""",
    "key patterns are keys": """
## Key Patterns

### Order
```
PK = ORDER#[orderId]
SK = META
```
""",
}


@pytest.mark.parametrize("text", KEYS.values(), ids=KEYS)
def test_a_key_is_read(text: str) -> None:
    schema = design_of("# Shop\n" + text, "shop.md").schema
    assert str(schema.by_entity["Order"].key) == "ORDER#{orderId} / META"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("ORDER#<order id>", "ORDER#{orderId}"),
        ("ORDER#{order_id}", "ORDER#{order_id}"),
        ("ORDER#${order.id}", "ORDER#{id}"),
        ("ORDER#:orderId", "ORDER#{orderId}"),
        ("ORDER#[orderId]", "ORDER#{orderId}"),
        ("ORDER#{{orderId}}", "ORDER#{orderId}"),
        ("ORDER#orderId", "ORDER#{orderId}"),
        ("ORDER#ID", "ORDER#{ID}"),
        ("SHOP#<shop>#ORDER#<n>", "SHOP#{shop}#ORDER#{n}"),
    ],
)
def test_a_placeholder_is_read_in_each_notation(written: str, read: str) -> None:
    schema = design_of(
        f"# D\n\n| Entity | PK |\n|---|---|\n| Order | `{written}` |\n", "d.md"
    ).schema
    key = schema.by_entity["Order"].key
    assert key is not None
    assert str(key.partition) == read


SHOP = """# Shop

| Entity | PK | SK | GSI1PK | GSI1SK |
|---|---|---|---|---|
| Order | `ORDER#<orderId>` | `META` | `CUSTOMER#<customerId>` | `ORDER#<date>` |
| Line | `ORDER#<orderId>` | `LINE#<lineId>` | - | N/A |

## Access patterns

"""
PATTERNS = {
    "a row with a condition": (
        "| Pattern | Operation | Key condition |\n|---|---|---|\n"
        "| Lines | Query | `PK=ORDER#<id>, SK begins_with LINE#` |\n",
        ("query", None, "ORDER#{orderId}", "begins_with"),
    ),
    "a row with a column for each side": (
        "| # | Pattern | PK | SK |\n|---|---|---|---|\n| 1 | Lines | `ORDER#<id>` | "
        "begins_with `LINE#` |\n",
        ("query", None, "ORDER#{orderId}", "begins_with"),
    ),
    "a bullet": (
        "- **Lines**: `Query PK=ORDER#<id> WHERE begins_with(SK,'LINE#')`\n",
        ("query", None, "ORDER#{orderId}", "begins_with"),
    ),
    "two bullets for one read": (
        "### Lines\n- `PK` = `ORDER#{id}`\n- `SK` = `begins_with(\"LINE#\")`\n",
        ("query", None, "ORDER#{orderId}", "begins_with"),
    ),
    "a call by position": (
        "- Lines: `GetItem(ORDER#<id>, META)`\n",
        ("get", None, "ORDER#{orderId}", "eq"),
    ),
    "an index by its number": (
        "- Lines: Query GSI1 `GSI1PK = CUSTOMER#<id>`, newest first, limit 20\n",
        ("query", "GSI1", "CUSTOMER#{customerId}", "none"),
    ),
    "Python": (
        "### Lines\n```python\ntable.query(KeyConditionExpression=Key('PK').eq(f'ORDER#{id}') "
        "& Key('SK').begins_with('LINE#'))\n```\n",
        ("query", None, "ORDER#{orderId}", "begins_with"),
    ),
    "TypeScript": (
        "### Lines\n```ts\nawait db.send(new QueryCommand({\n"
        "  KeyConditionExpression: 'PK = :pk AND begins_with(SK, :sk)',\n"
        "  ExpressionAttributeValues: {':pk': `ORDER#${id}`, ':sk': 'LINE#'},\n}));\n```\n",
        ("query", None, "ORDER#{orderId}", "begins_with"),
    ),
    "Java": (
        '### Lines\n```java\nrequest.keyConditionExpression("PK = :pk AND begins_with(SK, :sk)");\n'
        'values.put(":pk", AttributeValue.builder().s("ORDER#" + id).build());\n'
        'values.put(":sk", AttributeValue.builder().s("LINE#").build());\n```\n',
        ("query", None, "ORDER#{orderId}", "begins_with"),
    ),
    "the command line": (
        "### Lines\n```bash\naws dynamodb query --table-name shop \\\n"
        "  --key-condition-expression 'PK = :pk AND begins_with(SK, :sk)' \\\n"
        '  --expression-attribute-values \'{":pk": {"S": "ORDER#<id>"}, ":sk": {"S": "LINE#'
        '"}}\'\n```\n',
        ("query", None, "ORDER#{orderId}", "begins_with"),
    ),
    "an open end": (
        "| Pattern | Operation | Key condition |\n|---|---|---|\n"
        "| Lines | Query | `PK = ORDER#... AND begins_with(SK, LINE#)` |\n",
        ("query", None, "ORDER#{orderId}", "begins_with"),
    ),
    "a partition beside a condition": (
        "| Pattern | How |\n|---|---|\n| Lines | Query `ORDER#id` + `begins_with(SK, LINE#)` |\n",
        ("query", None, "ORDER#{orderId}", "begins_with"),
    ),
    "both sides in one word": (
        "| Pattern | How |\n|---|---|\n| Lines | GetItem `ORDER#id/META` |\n",
        ("get", None, "ORDER#{orderId}", "eq"),
    ),
    "a call of a helper": (
        "| Pattern | How |\n|---|---|\n| Lines | `query_pk(\"ORDER#{id}\")` |\n",
        ("query", None, "ORDER#{orderId}", "none"),
    ),
    "a get in code": (
        "### Lines\n```ts\nawait db.send(new GetCommand({\n  TableName: 'shop',\n"
        "  Key: { PK: `ORDER#${id}`, SK: 'META' },\n}));\n```\n",
        ("get", None, "ORDER#{orderId}", "eq"),
    ),
    "a query of an index": (
        "- **Lines**: Query on GSI1\n",
        ("query", "GSI1", "CUSTOMER#{customerId}", "none"),
    ),
    "a fence": (
        "1. Lines\n   ```\n   PK = ORDER#{id}\n   SK begins_with LINE#\n   ```\n",
        ("query", None, "ORDER#{orderId}", "begins_with"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), PATTERNS.values(), ids=PATTERNS)
def test_a_read_is_read(text: str, expected: tuple[str, str | None, str, str]) -> None:
    found = design_of(SHOP + text, "shop.md")
    [pattern] = found.schema.patterns
    assert pattern.name == "Lines", found.questions
    read = (pattern.kind, pattern.index, str(pattern.partition), pattern.condition.operator)
    assert read == expected


ORDERS = """# Orders

## Table: `orders`

### Keys
- **Partition key:** `orderId` (String)

| Index | Partition key | Sort key |
|---|---|---|
| `customer-index` | customerId | createdAt |

## Access patterns

"""
INDEX_READ = ("query", "customer-index", "{customerId}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- **Read**: Query `customer-index`", INDEX_READ),
        ("- **Read**: Query on customer-index with customerId", INDEX_READ),
        ("- **Read**: GetItem with orderId", ("get", None, "{orderId}")),
        (
            "### Read\n- **Operation**: Query\n- **Index**: `customer-index`\n"
            "- **Key**: `customerId`\n- **Sort**: `createdAt` (descending)",
            INDEX_READ,
        ),
        ("### Read\n- **Operation**: GetItem\n- **Key**: `orderId`", ("get", None, "{orderId}")),
        ("- **Read**: GetItem `PK: orderId`", ("get", None, "{orderId}")),
        ("- **Read**: Query customer-index, `PK = customerId`", INDEX_READ),
        ("- **Read**: Query customer-index, `customerId = ?`", INDEX_READ),
    ],
)  # fmt: skip
def test_a_read_by_names_of_attributes_is_read(
    text: str, expected: tuple[str, str | None, str]
) -> None:
    found = design_of(ORDERS + text + "\n", "orders.md")
    [pattern] = found.schema.patterns
    assert (pattern.kind, pattern.index, str(pattern.partition)) == expected, found.questions


def test_each_call_of_a_program_is_a_read_of_its_own() -> None:
    text = (
        ORDERS
        + """### Calls
```ts
// One order
const one = await db.get({
  TableName: 'orders',
  Key: { orderId: 'o-1' },
}).promise()

// Orders of a customer
const many = await db.query({
  TableName: 'orders',
  IndexName: 'customer-index',
  KeyConditionExpression: 'customerId = :c',
  ExpressionAttributeValues: { ':c': 'c-1' },
}).promise()
```
"""
    )
    read = [(p.name, p.kind, p.index) for p in design_of(text, "orders.md").schema.patterns]
    assert read == [
        ("One order", "get", None),
        ("Orders of a customer", "query", "customer-index"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "### Partition Key (PK)\n- **Attribute:** `orderId`\n- **Type:** String\n",
        '### Schema\n```json\n{\n  "orderId": "string",  // PK - the order\n}\n```\n',
        "### Primary Key\n- `orderId` (String): the order\n",
        "### Campi\n- **orderId** (chiave primaria): l'ordine\n",
    ],
    ids=["a heading", "a comment in JSON", "below Primary Key", "a mark in another language"],
)
def test_a_key_attribute_is_read(text: str) -> None:
    schema = design_of("# Shop\n\n## Table: `orders`\n\n" + text, "orders.md").schema
    assert [table.partition for table in schema.tables] == ["orderId"]


def test_order_and_limit_are_read() -> None:
    text = SHOP + "- Latest: Query GSI1 `GSI1PK = CUSTOMER#<id>`, newest first, limit 20\n"
    [pattern] = design_of(text, "shop.md").schema.patterns
    assert (pattern.descending, pattern.limit) == (True, 20)


def test_indexes_are_read_from_rows_and_bullets_with_their_attributes() -> None:
    text = """# Shop

## Table: `orders`
- Partition key: `orderId` (String)

### Global Secondary Indexes

| Index | Partition key | Sort key | Projection |
|---|---|---|---|
| `status-index` | `status` (String) | `createdAt` (Number) | KEYS_ONLY |

- `customer-index` (customerId as PK)
"""
    [table] = design_of(text, "shop.md").schema.tables
    assert [(i.name, i.key_text, i.projection) for i in table.indexes] == [
        ("status-index", "status / createdAt", "KEYS_ONLY"),
        ("customer-index", "customerId", "ALL"),
    ]
    assert table.key_text == "orderId"


def test_the_keys_of_an_indexs_items_are_read_from_rows_about_indexes() -> None:
    text = """# Shop

| Entity | PK | SK |
|---|---|---|
| Order | `SHOP#<shopId>` | `ORDER#<orderId>` |

| GSI | Partition | Sort | Sparse on |
|---|---|---|---|
| **GSI1** open orders | `OPEN#<shopId>` | `<date>` | orders |
"""
    [order] = design_of(text, "shop.md").schema.entities
    assert str(order.key) == "SHOP#{shopId} / ORDER#{orderId}"
    assert [(p.index, str(p.key)) for p in order.placements] == [("GSI1", "OPEN#{shopId} / {date}")]


@pytest.mark.parametrize("heading", ["## {}", "## 1. {}"])
def test_the_sections_of_tables_are_tables(heading: str) -> None:
    text = "# Shop\n\n" + "".join(
        f"{heading.format(name)}\n\n**Table Name**: `shop-{name.lower()}`\n\n"
        f"- PK: `{name.upper()}#<id>`\n\n"
        for name in ("Orders", "Bills")
    )
    schema = design_of(text, "shop.md").schema
    assert [table.name for table in schema.tables] == ["shop-orders", "shop-bills"]
    assert [entity.table for entity in schema.entities] == ["shop-orders", "shop-bills"]


def test_a_table_may_be_called_cost_and_an_index_have_a_title() -> None:
    text = """# Costs

## 1. Cost Data Table (`cost-data`)
- **Partition Key**: `service` (String)

**Global Secondary Indexes**:
1. **Region Index** (`region-index`)
   - Partition Key: `region`
"""
    [table] = design_of(text, "costs.md").schema.tables
    assert (table.partition, [index.name for index in table.indexes]) == (
        "service",
        ["region-index"],
    )


def test_keys_below_an_index_are_those_of_the_tables_items() -> None:
    text = """# Notes

## Table 1: `notes`
```
PK: USER#<id>
SK: NOTE#<n>
```
### GSI1: Query by note
```
GSI1PK: NOTE#<n>
GSI1SK: USER#<id>
```
## Table 2: `users`
```
PK: USER#<id>
SK: META
```
"""
    found = {entity.table: entity for entity in design_of(text, "notes.md").schema.entities}
    assert [str(p.key) for p in found["notes"].placements] == ["NOTE#{n} / USER#{id}"]
    assert found["users"].placements == ()


def test_commands_that_create_tables_are_read() -> None:
    text = """# Orders
```bash
aws dynamodb create-table --table-name orders \\
  --attribute-definitions AttributeName=id,AttributeType=S \\
  --key-schema AttributeName=id,KeyType=HASH \\
  --global-secondary-indexes \\
    "IndexName=by-day,KeySchema=[{AttributeName=day,KeyType=HASH}],Projection={ProjectionType=ALL}"
```
"""
    [table] = design_of(text, "orders.md").schema.tables
    assert [(index.name, index.key_text) for index in table.indexes] == [("by-day", "day")]


def test_several_tables_have_their_own_keys_indexes_and_reads() -> None:
    text = """# Shop

## Orders table
- PK: orderId
- GSI: customer-index
  - PK: customerId

### Query patterns
1. `getOrder(orderId)` → GetItem on PK
2. `listOrders(customerId)` → Query customer-index

## Customers table
- PK: customerId
"""
    schema = design_of(text, "shop.md").schema
    assert [(p.name, p.kind, p.index) for p in schema.patterns] == [
        ("getOrder", "get", None),
        ("listOrders", "query", "customer-index"),
    ]
    assert {table.name: table.key_text for table in schema.tables} == {
        "Orders": "orderId",
        "Customers": "customerId",
    }


def test_of_two_states_the_newer_one_is_read() -> None:
    text = """# Shop

## Current tables

| Table | PK | SK |
|---|---|---|
| Orders | orderId | - |

## Proposed tables

| Table | PK | SK |
|---|---|---|
| Orders | customerId | orderId |
"""
    found = design_of(text, "shop.md")
    assert [table.key_text for table in found.schema.tables] == ["customerId / orderId"]
    assert found.reading.marks[7] == "question"


@pytest.mark.parametrize("heading", ["Future work", "Option A", "Migration", "Alternative design"])
def test_what_a_heading_sets_aside_is_asked_about(heading: str) -> None:
    found = design_of(SHOP + f"## {heading}\n\n- **Return**: `PK=RETURN#<id>`, `SK=META`\n", "s.md")
    assert "Return" not in found.schema.by_entity
    assert any(heading in question for question in found.questions)


def test_a_read_of_a_section_is_of_its_entitys_partition() -> None:
    text = """# Shop

### Order \u2014 `pk=SHOP#{id}  sk=ORDER#{n}`

**Access:** `Query pk, sk begins_with "ORDER#"` \u2014 newest first

### Bill \u2014 `pk=SHOP#{id}  sk=BILL#{n}`

**Access:** `Query sk begins_with "BILL#"`
"""
    found = design_of(text, "shop.md")
    assert [
        (p.name, str(p.partition), str(p.condition.template)) for p in found.schema.patterns
    ] == [
        ("Order", "SHOP#{id}", "ORDER#"),
        ("Bill", "SHOP#{id}", "BILL#"),
    ]
    assert found.questions == ["line 9: Bill: is the partition SHOP#<id>? It is read so."]


def test_a_read_may_be_told_in_words() -> None:
    text = """# Shop

## Orders table
- **Partition key:** `customerId`
- **Sort key:** `orderId`
- GSI: `status-index` (status as PK)

**Access patterns:**
- List orders by status
- Get an order by customerId and orderId
- List all orders for a customer
- Find orders by colour
- Update an order by customerId and orderId

## Customers table
- **Partition key:** `customerId`
"""
    found = design_of(text, "shop.md")
    assert [(p.name, p.kind, p.index) for p in found.schema.patterns] == [
        ("List orders by status", "query", "status-index"),
        ("Get an order by customerId and orderId", "get", None),
        ("List all orders for a customer", "query", None),
    ]
    assert found.questions == [
        "line 11: List all orders for a customer: is it read by customerId?",
        "line 12: Find orders by colour: by which key?",
    ]


def test_the_key_of_an_index_is_read_from_its_name_and_the_attributes_of_an_example() -> None:
    text = """# Shop

| Table | Partition key | GSIs |
|---|---|---|
| `orders` | `order_id` | `customer-day-index` |
| `customers` | `customer_id` | - |

## Table: orders

**Access patterns:**
- Orders of a day \u2192 GSI on `customer_id` + `day`
- Orders of a customer \u2192 GSI on `customer_id` + `day` range

```json
{ "order_id": "o-1",
  "customer_id": "c-1",
  "day": "2026-01-02" }
```
"""
    found = design_of(text, "shop.md")
    [index] = found.schema.tables[0].indexes
    assert index.key_text == "customer_id / day"
    assert [(p.index, str(p.condition.template)) for p in found.schema.patterns] == [
        ("customer-day-index", "{day}"),
        ("customer-day-index", "None"),
    ]
    assert any("line 12: Orders of a customer: which part" in q for q in found.questions)


def test_kinds_of_items_in_one_cell_are_told_apart_by_their_keys() -> None:
    text = """# Shop

## Main table

| Attribute | Type | Description |
|---|---|---|
| `PK` (Partition Key) | String | `SHOP#<shopId>` |
| `SK` (Sort Key) | String | `ORDER#<orderId>` or `PROFILE` |
"""
    found = design_of(text, "shop.md")
    assert {e.name: str(e.key) for e in found.schema.entities} == {
        "Order": "SHOP#{shopId} / ORDER#{orderId}",
        "Profile": "SHOP#{shopId} / PROFILE",
    }
    assert [q.partition(":")[0] for q in found.questions] == ["line 8", "line 8"]


def test_items_outside_of_a_tables_section_are_those_of_the_main_table() -> None:
    text = """# Shop

### Primary table: `shop`

| Attribute | Type | Description |
|---|---|---|
| PK | String | Partition key |
| SK | String | Sort key |

### Entities

#### Order
- PK: `ORDER#<id>`
- SK: `META`

### Helper table: `locks`
- PK: `LOCK#<id>`
"""
    found = design_of(text, "shop.md")
    assert {e.name: e.table for e in found.schema.entities} == {"Order": "shop", "lock": "locks"}
    assert found.questions == [
        "line 3: Are items outside of a table's section in shop? It is read so."
    ]


def test_an_index_may_have_a_table_of_its_properties_in_another_language() -> None:
    text = """# \u6ce8\u6587

## 1. \u30c6\u30fc\u30d6\u30eb\u5b9a\u7fa9

| \u9805\u76ee | \u5024 |
|---|---|
| \u30c6\u30fc\u30d6\u30eb\u540d | `Orders` |
| \u30d1\u30fc\u30c6\u30a3\u30b7\u30e7\u30f3\u30ad\u30fc (PK) | `orderId` (String) |

## 2. GSI

| \u9805\u76ee | \u5024 |
|---|---|
| \u30a4\u30f3\u30c7\u30c3\u30af\u30b9\u540d | `by_day` |
| \u30d1\u30fc\u30c6\u30a3\u30b7\u30e7\u30f3\u30ad\u30fc | `day` (String) |
"""
    [table] = design_of(text, "orders.md").schema.tables
    assert (table.name, table.key_text) == ("Orders", "orderId")
    assert [(index.name, index.key_text) for index in table.indexes] == [("by_day", "day")]


def test_names_in_a_call_stand_for_the_fields_of_the_key() -> None:
    text = SHOP + (
        '\n```python\n# One line\ntable.get_item(Key={"PK": "ORDER#17", "SK": "LINE#2"})\n```\n'
    )
    [pattern] = design_of(text, "shop.md").schema.patterns
    assert (str(pattern.partition), str(pattern.condition.template)) == (
        "ORDER#{orderId}",
        "LINE#{lineId}",
    )


def test_a_mention_of_a_scan_in_a_paragraph_is_no_pattern() -> None:
    text = SHOP + "\nOperations: a Scan of everything is fine today.\n"
    assert design_of(text, "shop.md").schema.patterns == ()


def placed(text: str) -> dict[str, list[str]]:
    """The keys of each entity: that of the table, then its placements by index."""
    return {
        e.name: [str(e.key), *(f"{p.index}: {p.key}" for p in e.placements)]
        for e in design_of(text, "shop.md").schema.entities
    }


def test_a_primary_key_beside_a_sort_key_is_the_partition_key() -> None:
    text = """# Shop

| Entity | Primary key | Sort key | Index keys |
|---|---|---|---|
| Order | `SHOP#<shop>#ORDER#<id>` | `META` | `GSI1PK=SHOP#<shop>`, `GSI1SK=<date>` |
| Shop | `SHOP#<shop>` | `META` | none |
| Line | same order partition | `LINE#<n>` | none |
"""
    assert placed(text) == {
        "Order": ["SHOP#{shop}#ORDER#{id} / META", "GSI1: SHOP#{shop} / {date}"],
        "Shop": ["SHOP#{shop} / META"],
        "Line": ["SHOP#{shop}#ORDER#{id} / LINE#{n}"],
    }


def test_indexes_of_one_number_are_told_apart_by_their_names() -> None:
    text = """# Shop

## Users
- PK: `USER#<userId>`
- SK: `META`

**GSI-1 (`EmailIndex`)**: `PK = MAIL#<email>`, `SK = USER#<userId>` — by mail.

## Orders
- PK: `ORDER#<orderId>`
- SK: `META`

**GSI-1 (`CustomerIndex`)**: `PK = CUSTOMER#<customerId>`, `SK = createdAt` — by customer.
"""
    assert placed(text) == {
        "User": ["USER#{userId} / META", "EmailIndex: MAIL#{email} / USER#{userId}"],
        "Order": ["ORDER#{orderId} / META", "CustomerIndex: CUSTOMER#{customerId} / {createdAt}"],
    }


def test_an_index_by_a_key_attribute_of_the_table_has_its_template() -> None:
    text = """# Games

## Table: `scores`

**Partition Key (PK)**: `BOARD#<game>`
**Sort Key (SK)**: `USER#<userId>`

- **score** (Number): points

### GSI 1: RankIndex
- **Partition Key**: `PK`
- **Sort Key**: `score` (Number)

### Attributes

| Attribute | Type |
|---|---|
| score | Number |
"""
    assert [keys[1:] for keys in placed(text).values()] == [["RankIndex: BOARD#{game} / {score}"]]


def test_the_key_attributes_of_an_index_are_read_without_values() -> None:
    text = SHOP.replace("## Access", "- `GSI2PK`, `GSI2SK` for lists by day\n\n## Access")
    [table] = design_of(text, "shop.md").schema.tables
    assert {i.name: i.key_text for i in table.indexes}["GSI2"] == "GSI2PK / GSI2SK"


def test_the_index_keys_of_an_example_are_those_that_were_told_of_no_item() -> None:
    text = """# Shop

| Entity | PK | SK |
|---|---|---|
| Order | `ORDER#<orderId>` | `META` |
| Line | `ORDER#<orderId>` | `LINE#<n>` |

### Indexes

| Index | PK | SK |
|---|---|---|
| **GSI1** | `GSI1PK = CUST#<customerId>` | `GSI1SK = <status>#<orderId>` |

### Order item
```json
{
  "PK": "ORDER#o-1",
  "SK": "META",
  "GSI1PK": "CUST#c-1",
  "GSI1SK": "PAID#o-1"
}
```
"""
    assert placed(text)["Order"] == [
        "ORDER#{orderId} / META",
        "GSI1: CUST#{customerId} / {status}#{orderId}",
    ]


def test_a_word_in_place_of_a_field_is_asked_about() -> None:
    text = SHOP + "- Open ones: Query GSI1 `GSI1PK = CUSTOMER#oslo`\n"
    found = design_of(text, "shop.md")
    assert any("is oslo meant, or any <customerId>?" in each for each in found.questions)


def test_keys_in_a_section_of_index_keys_are_not_the_tables() -> None:
    text = """# Tickets

**Partition Key:** `ticketId` (String)

## Global secondary index

### Index Keys

**Partition Key:** `callerId` (String)
"""
    found = design_of(text, "tickets.md")
    assert [table.key_text for table in found.schema.tables] == ["ticketId"]
    assert "line 9: callerId is a partition key of which index?" in found.questions


def test_a_read_is_what_its_operation_says_not_its_route() -> None:
    text = SHOP + (
        "| Pattern | Route | Operation |\n|---|---|---|\n"
        "| Lines | `GET /orders/{id}` | `Query` `PK = ORDER#<id>` |\n"
    )
    [pattern] = design_of(text, "shop.md").schema.patterns
    assert (pattern.kind, str(pattern.partition)) == ("query", "ORDER#{orderId}")


def test_a_rule_against_scans_is_no_scan() -> None:
    text = SHOP + "- **No table scans, ever.** A scan reads all of it.\n"
    assert design_of(text, "shop.md").schema.patterns == ()


def test_the_only_table_is_one_table_whatever_section_tells_its_key() -> None:
    text = """# Jobs

## Key schema of the table `etl_jobs`

- **Partition key**: `jobId` (String)
- **Sort key**: `status` (String)

## Console setup

- **Table name**: `etl_jobs`
- **Partition key**: `jobId` (String)
- **Sort key**: `status` (String)

1. **Create table:**
   - Partition key: `jobId` (String)
"""
    schema = design_of(text, "jobs.md").schema
    assert [(table.name, table.key_text) for table in schema.tables] == [
        ("etl_jobs", "jobId / status")
    ]
    assert len(schema.entities) == 1


@pytest.mark.parametrize(
    "line",
    [
        "Table `Library`, partition key `PK`, sort key `SK`, on-demand. TTL attribute: `expires`.",
        "Table: `Library`, partition key `PK`, sort key `SK`. TTL attribute: `expires`.",
        "The table **Library** has the partition key `PK` and the sort key `SK`; TTL on `expires`.",
        "- Table Library, hash key PK (string), range key SK (string), TTL attribute `expires`.",
    ],
)
def test_a_table_is_read_from_a_sentence(line: str) -> None:
    keys = "| Entity | PK | SK |\n|---|---|---|\n| Book | `BOOK#<bookId>` | `META` |\n"
    found = design_of(f"# D\n\n{line}\n\n{keys}", "d.md")
    [table] = found.schema.tables
    assert (table.name, table.key_attributes, table.ttl) == ("Library", ("PK", "SK"), "expires")
    assert found.questions == []
    assert found.reading.marks[3] == "read"


def test_a_sentence_about_a_tables_key_that_is_not_read_is_never_called_silent() -> None:
    assert (
        "not understood"
        in design_of(
            "# D\n\nThe table has the partition key `PK` as usual.\n", "d.md"
        ).reading.explain(3)[0]
    )


def test_an_index_in_the_sentence_of_its_table_is_asked_about() -> None:
    line = "Table `Library`, partition key `PK`, and an index with partition key `author`."
    found = design_of(f"# D\n\n{line}\n", "d.md")
    assert any("Which indexes has Library?" in question for question in found.questions)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("string, ULID", ("string", "")),
        ("ISO timestamp", ("timestamp", "")),
        ("string, ISO 8601", ("timestamp", "")),
        ("epoch seconds", ("timestamp", "epoch")),
        ("number, epoch milliseconds", ("timestamp", "epoch_ms")),
        ("Unix timestamp in seconds", ("timestamp", "epoch")),
        ("string, unique", ("string", "")),
        ("unix timestamp", ("number", "")),
        ("email, phone", ("any", "")),
        ("number, string", ("any", "")),
        ("time in seconds", ("any", "")),
    ],
)
def test_a_type_is_read_among_several_words(written: str, read: tuple[str, str]) -> None:
    keys = "| Entity | PK | SK |\n|---|---|---|\n| Book | `BOOK#<bookId>` | `META` |\n"
    text = f"# D\n\n{keys}\n## Book\n\n### Attributes\n\n- `at` ({written})\n"
    found = design_of(text, "d.md")
    [at] = [each for each in found.schema.by_entity["Book"].attributes if each.name == "at"]
    assert (at.type, at.stored) == read
    asked = any("no type is given for at" in question for question in found.questions)
    assert asked == (at.type == "any")
