"""The words by which documents say what a heading, a column or a line is about."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Section = Literal["aside", "patterns", "keys", "indexes", "attributes", "examples", "ttl", ""]

_SECTION_WORDS: tuple[tuple[Section, str], ...] = (
    ("aside", r"今後|将来|향후|tương lai|"
              r"\b(?:future|futur[oa]s?|roadmap|planned|potential|options? [a-z\d]\b|"
              r"option:|rejected|alternatives?(?=\s+(?:[a-z\d]\b|designs?|approach)|\s*$|:)|"
              r"considered|(?:re)?migrat\w+|backfill\w*|next steps?|extending|adding|"
              r"anti-?patterns?|"
              r"acceptance criteria|task status|"
              r"changelog|deprecated|hypothetical|out of scope|principles|"
              r"opcional\w*|optional (?:tables?|index\w*|gsis?|entit\w+)|checklist|monitoring|"
              r"capacity|cost\b|"
              r"scal(?:e|ing)\b|best practices|deployment|troubleshooting|why not|do not|"
              r"don'?t)\b"),
    ("keys", r"\bkey (?:patterns?|formats?|prefix|schema|structure|summary|design|templates?|"
             r"definitions?)|\b(?:pk|partition key)\b.*\bpatterns?\b|^primary keys?$|^keys?$|"
             r"\bpk ?/ ?sk\b|chave|\b(?:entity|item|storage|event) patterns?$|entity "
             r"types?|\bentit(?:y|ies)\b|\bentidad(?:es)?\b"),
    ("indexes",
        r"^(?:[\d.]+ )?(?:global |local )?(?:secondary )?(?:gsis?|lsis?|indexes|indices)\b"),
    ("patterns", r"access patterns?|\bquer(?:y|ies)\b|use cases?|casos de uso|lookups?|\breads?\b|"
                 r"read (?:path|patterns?)|patrones de (?:acceso|consulta)|padr(?:ões|ao|"
                 r"ão) de acesso|consultas?|"
                 r"\boperations?\b|^patterns?$|조회|アクセスパターン"),
    ("indexes", r"(?<![a-z\d])(?:gsis?|lsis?)(?![a-z\d])|\bind(?:ex|exes|ices)\b|índices?"),
    ("attributes",
        r"\b(?:attributes?|fields?|payload|properties|columns?|atributos|campos|schema)\b"),
    ("examples",
        r"\b(?:examples?|samples?|ejemplos?|exemplos?|exemples?|esemp[io]+|beispiele?|"
        r"ví dụ|пример\w*)\b|예시|例|サンプル"),
    ("ttl", r"\b(?:ttl|time to live|expir\w*|retention)\b"),
)  # fmt: skip
SECTIONS = tuple((kind, re.compile(f"(?i){words}")) for kind, words in _SECTION_WORDS)

STRUCTURE = frozenset(
    """
    name names decision decisions
    a an and or of for the with by in on to from per vs see also all other others not new
    existing key keys schema schemas structure structures pattern patterns design designs
    primary main base core table tables tabla tabela tablas tabelas attribute attributes index
    indexes indices gsi gsis lsi lsis gsi1 gsi2 gsi3 gsi4 gsi5 global secondary local entity
    entities item items type types record records data model models overview summary note notes
    example examples sample samples access query queries config configuration definition
    definitions field fields payload properties single multi dynamodb ddb database db storage
    layout format formats template templates prefix prefixes convention conventions naming
    reference composite sort partition hash range pk sk ttl expiration stream streams purpose
    benefits analysis rationale recommendation recommendations current proposed standard common
    implementation details detail how why what use used uses usage case cases column columns
    list mapping mappings relationships relationship hierarchy lookup lookups read reads write
    writes operation operations supported description shape shapes json object objects principle
    principles philosophy guide document documentation spec specification chave chaves estrutura
    entidades entidad entidade campos atributos sugeridos resumen resumo visao geral physical
    logical required optional additional code kotlin python typescript javascript java go golang
    rust terraform cdk application app projection populated method rule metadata step phase
    section part
    definición descripción definição descrição atributo índice índices principales principais
    consistent
    estructura esquema diseño clave claves primaria primario principal secundario secundarios
    secundarias globales patrones acceso ejemplo ejemplos del los las el la estrutura do da dos das
    exemplo exemplos clé clés schéma principale exemple exemples modèle du des le les d schlüssel
    tabelle struktur structura chei indexuri secundare globale atribute tipuri each item
    """.split()  # noqa: SIM905
)
"""Words of headings that name no entity."""

COLUMNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (role, re.compile(rf"(?i)(?:{words})"))
    for role, words in (
        ("number", r"#|no\.?|nr\.?|id|ap|ap ?#|ref"),
        ("entity",
            r"(?:entity|item|record|object|row|document|data)(?: ?(?:/ ?)?(?:types?|kind|"
            r"name|item|record))?"
                   r"|entities|items|entity / item|entidad\w*|model|resource|types?|kind|"
                   r"what|tipo|실체|엔티티"),
        ("table", r"tables?(?: name)?|tabla|tabela"),
        ("index",
            r"(?:index|gsi|lsi|gsi/lsi|index name|gsi name|indexes|gsis|index/table|"
            r"table/index|table/gsi"
                  r"|index used|gsi used|key/index used|índice)"),
        ("attribute",
            r"(?:attribute|field|property|column|key|atributo|campo)(?: ?names?)?|"
            r"attributes|fields|name"),
        ("type", r"(?:data ?|dynamodb |attribute )?types?|tipo"),
        ("pattern",
            r"(?:access )?patterns?(?: name)?|use[- ]?cases?|quer(?:y|ies)|need|questions?|"
            r"scenario|"
                    r"requirement|action|access|purpose|goal|operations?|caso de uso|"
                    r"padrão|조회 목적|feature|task|api|"
                    r"endpoint|route|description|descripción|function|method|repository "
                    r"method|pattern / .*"),
        ("operation",
            r"(?:dynamodb |ddb |api )?(?:operations?|api|call|action|method|command|access "
            r"pattern|type)"),
        ("condition",
            r".*(?:condition|expression|key(?:s|/index)? used|implementation|how|query(?: "
            r"pattern)?|"
                      r"parameters|strategy|ddb operation|solution|lookup|access path).*|keys?"),
        ("value",
            r"(?:key )?(?:value|pattern|format|template|structure|schema|definition)s?|"
            r"valor|key"),
        ("example", r"(?:sample|example|ejemplo|exemplo|예시).*"),
        ("purpose",
            r"(?:purpose|use cases?|used for|uses?|description|notes?|access patterns?|"
            r"comments?|why|query).*"),
        ("projection", r"projections?(?: type)?|projected.*"),
        ("sort order", r"sort|order|sorting"),
    )
)  # fmt: skip

KEY_WORDS = tuple(
    (re.compile(f"(?i){words}"), english)
    for english, words in (
        (
            "Partition key",
            r"clave (?:de partición|hash)|chave (?:de partição|hash)|clé de partition|"
            r"chiave di partizione|partitionsschlüssel|khóa phân vùng|"
            r"パーティション\s?キー|파티션 ?키|分区键",
        ),
        (
            "Sort key",
            r"clave (?:de orden\w*|rango)|chave de (?:ordenação|classificação)|clé de tri|"
            r"chiave di ordinamento|sortierschlüssel|ソート\s?キー|정렬 ?키|排序键|khóa sắp xếp",
        ),
        (
            "Primary key",
            r"clave primaria|chave primária|chiave primaria|clé primaire|primärschlüssel|"
            r"主キー|기본 ?키|khóa chính",
        ),
        (
            "Table name",
            r"テーブル名|테이블 ?이름|테이블명|tên bảng|nombre de la tabla|nome da tabela|表名",
        ),
        ("Table definition", r"(?:テーブル|表)定義|테이블 ?정의"),
        ("Key structure", r"キー(?:構成|構造|設計)|키 ?(?:구조|설계)"),
        ("Design", r"設計書?|설계서?"),
        ("Attribute name", r"属性名|項目名|속성명|속성 ?이름"),
        ("Attributes", r"属性|속성"),
        ("Data type", r"(?<=\| )(?:データ)?型(?= *\|)|(?<=\| )타입(?= *\|)"),
        ("Schema", r"スキーマ|스키마"),
        ("Index name", r"インデックス名|인덱스 ?이름|인덱스명|nombre del índice|nome do índice"),
        (
            "Global secondary index",
            r"グローバル・?セカンダリ・?インデックス|글로벌 ?보조 ?인덱스|"
            r"índices? secund[aá]rios? globa\w+",
        ),
    )
)
"""What other languages call keys and their sides."""

KIND = re.compile(r"(?i)(?:entity|item|record|object)?_?(?:type|kind)|_type|__typename|_et")
"""Attributes that tell the kind of an item: their values are literals of its keys."""

READS = {"query": "query", "scan": "scan"} | dict.fromkeys(
    ("pk lookup", "get", "getitem", "get item", "get_item", "batchgetitem", "batchget",
     "transactgetitems"), "get")  # fmt: skip
READ_WORD = re.compile(
    r"(?i)\b(PK lookup|GSI (?:lookup|scan|query|on)|"
    r"Get ?Item(?!s)|BatchGetItem|BatchGet|get_item|Quer(?:y(?:_\w+)?|ies)|Scan(?! ?index|[- "
    r"]?reverse| forward))\b|\b((?-i:GET))\b(?=[ :(`])"
)
READ_BY = re.compile(
    r"(?i)\W*(?:get|list|find|fetch|look ?up|retrieve|search|load|show|query|read|view)\b"
    r".*?\b(?:by|for|of|in)\s+(?:an?\s+|the\s+|their\s+|one\s+|each\s+)?(?P<by>[\w`][^.;:\u2014(]*)"
)
"""A read told in words: `List orders by customerId`."""
WRITE_WORD = re.compile(
    r"(?i)\b(PutItem|UpdateItem|DeleteItem|BatchWrite(?:Item)?|TransactWrite(?:Items?)?|"
    r"BatchDelete|put_item"
    r"|update_item|delete_item|PutCommand|UpdateCommand|DeleteCommand|Put\b|Upsert|"
    r"conditional (?:put|write|update))"
)
WRITE_NAME = re.compile(
    r"(?i)(?:create|update|put|delete|add|save|persist|write|insert|remove|send|revoke|set|"
    r"store|register|upsert"
    r"|mark|record|increment|decrement|edit|append|crear|actualizar|eliminar|criar|"
    r"atualizar|remover|replace|upload|cancel)\b"
)
DESCENDING = re.compile(
    r"(?i)\bDESC\b|descending|ScanIndexForward['\"]?\s*[=:(]?\s*`?false|newest[- ]first|"
    r"\bscan reverse|"
    r"reverse[- ](?:sort|order|chronological)|most recent first|latest first"
)
PERHAPS = re.compile(r"(?i)\b(?:can|could|may|might|if needed|optionally|optional)\b")
LIMIT = re.compile(r"(?i)\blimit\s*[=:]?\s*(\d+)")
NUMBERED = re.compile(r"^\s*(?:#?\d+(?:\.\d+)*[.):]?|[A-Z]{1,3}[- ]?\d+[.:)]?|[A-Z][.)])\s+")
BEFORE = re.compile(r"(?i)\b(?:current|before|old|present|existing|as-is)\b")
AFTER = re.compile(r"(?i)\b(?:proposed|after|target|to-be|new design)\b|post-")

TYPES = {
    **dict.fromkeys(
        ("s", "string", "str", "text", "uuid", "ulid", "varchar", "enum", "email", "url"), "string"
    ),
    **dict.fromkeys(("n", "number", "int", "integer", "long", "epoch", "unix"), "number"),
    **dict.fromkeys(("float", "decimal", "double"), "decimal"),
    **dict.fromkeys(("bool", "boolean"), "boolean"),
    **dict.fromkeys(("b", "binary", "bytes"), "binary"),
    **dict.fromkeys(("l", "list", "array"), "list"),
    **dict.fromkeys(("m", "map", "object", "json", "dict"), "map"),
    **dict.fromkeys(("ss", "string set", "stringset", "set"), "string_set"),
    **dict.fromkeys(("ns", "number set", "numberset"), "number_set"),
    **dict.fromkeys(("timestamp", "datetime", "iso8601", "iso 8601", "iso"), "timestamp"),
    "date": "date",
}


_NAMES = re.compile(r"[\w.${}<>]+(?:-[\w.${}<>]+){2,}|\w+-(?:index|gsi|table)\b")
"""Names, whose words announce nothing: cost-center-index."""
_ITEM = re.compile(r"(?i)\b(?:item|record|entity)$")
"""A lookup item is no read."""


def section_of(text: str) -> Section:
    """What a heading or a label announces; empty if it only names something."""
    text = _NAMES.sub("", text)
    found: Section = next((kind for kind, words in SECTIONS if words.search(text)), "")
    return "" if found == "patterns" and _ITEM.search(text) else found


def column_roles(header: str) -> list[str]:
    """Every role that a column's header allows, likeliest first."""
    return [role for role, words in COLUMNS if words.fullmatch(header)]


class WrittenType(NamedTuple):
    """What a document says of an attribute's type."""

    type: str
    """The design file's word; empty if it is not said, or not understood."""
    optional: bool
    values: tuple[str, ...] = ()
    stored: str = ""
    """The format of a time that is a number: epoch or epoch_ms."""


def attribute_type(text: str) -> WrittenType:
    """An attribute's type, as `string`, `string, ULID`, `ISO timestamp` or `list of string`."""
    optional = bool(re.search(r"(?i)\?$|optional|nullable|\bnull\b", text))
    values = tuple(re.findall(r"[\"']([\w-]+)[\"']", text))
    if len(values) > 1 and "|" in text:
        return WrittenType("string", optional, values)
    if listed := _LISTED.fullmatch(text.strip()):
        return WrittenType("string", optional, tuple(re.split(r",\s*", listed[1])))
    said = re.sub(
        r"(?i)(?<=\w )`[^`]*\{[^`]*`$|`|\*|\?|optional|nullable|\|\s*null\b|required", " ", text
    ).lower()
    word = re.sub(r"\(.*?\)|,", " ", said).strip()
    if re.match(
        r"(?:\[\]|list ?[<\[(]|array ?[<\[(]|set<|l<|(?:list|array) of)", word
    ) or word.endswith("[]"):
        return WrittenType("list", optional)
    if re.match(r"(?:map|record|dict) ?[<\[(]|\{", word):
        return WrittenType("map", optional)
    kind = TYPES.get(word, "")
    if kind in ("", "timestamp"):
        several, stored = _among([part.strip() for part in re.split(r"[,;()]", said)])
        return WrittenType(several or kind, optional, (), stored)
    return WrittenType(kind, optional)


_LISTED = re.compile(r"string: ([\w-]+(?:,\s*[\w-]+)+)")
"""`string: PLACED, SHIPPED`: the values that it has."""
_EPOCH = re.compile(
    r"(?:(?:unix|epoch|timestamp|time) ?)+(?:in )?(?P<unit>seconds|secs?|s|milliseconds|millis|ms)?"
)
_ISO = re.compile(r"(?:(?:utc|iso(?:[ -]?8601)?|timestamp|date-?time|string|format(?:ted)?) ?)+")
_SURE = frozenset("s string str n number int integer bool boolean list map timestamp".split())  # noqa: SIM905
"""Words that are types beside any others; an email beside a phone is none."""


def _among(parts: list[str]) -> tuple[str, str]:
    """The type that several words give, as `string, ULID`, and the format of a time."""
    kinds: set[str] = set()
    stored = ""
    known = 0
    for part in parts:
        epoch = _EPOCH.fullmatch(part)
        if part == "epoch_ms" or (part == "epoch" and "timestamp" in parts):
            stored = part  # timestamp (epoch)
        elif part in TYPES:
            kinds.add(TYPES[part])
        elif epoch and re.search("unix|epoch|timestamp", part):
            kinds.add("number")
            unit = epoch["unit"] or ""
            stored = "epoch_ms" if unit.startswith("m") else "epoch" if unit else stored
        elif "iso" in part and _ISO.fullmatch(part):
            kinds.add("timestamp")
        elif part == parts[0]:
            return "", ""  # orderId (String) is a name with its type
        else:
            continue
        known += 1
    if known < len([*filter(None, parts)]) and not _SURE & {*parts}:
        return "", ""
    if stored:
        return ("number", stored) if kinds <= {"number", "timestamp"} else ("", "")
    if len(kinds) == 2 and "string" in kinds:
        kinds -= {"string"} if kinds & {"timestamp", "date"} else set()
    return (kinds.pop() if len(kinds) == 1 else ""), ""
