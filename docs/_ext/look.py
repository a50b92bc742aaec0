"""The frame of the site: six entries on top, the groups of a section at the side, and design files.

A declaration has a second tab: the design file that says the same. The search finds a page by more
words than those of its title.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from keyfold import Design
from keyfold.design.yaml_writer import dumps

HOME = "index"
SEARCH_WORDS: dict[str, list[str]] = tomllib.loads(
    Path(__file__).with_name("search_words.toml").read_text("utf-8")
)


class Entry(NamedTuple):
    title: str
    page: str


class Group(NamedTuple):
    title: str
    about: str
    entries: list[Entry]


class Section(NamedTuple):
    title: str
    page: str
    groups: list[Group]


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", _add_design_file)
    app.connect("doctree-read", _name_columns)
    app.connect("doctree-read", _add_search_words)
    app.connect("source-read", _offer_files)
    app.connect("html-page-context", _add_frame)
    return {"parallel_read_safe": True}


def _offer_files(app: Sphinx, page: str, source: list[str]) -> None:
    """Links to pages that the site leaves out, such as decisions, lead to their files."""
    folder = Path(app.env.doc2path(page)).parent

    def link(at: re.Match[str]) -> str:
        path = (folder / at[1]).resolve()
        left_out = path.is_file() and app.project.path2doc(path) not in app.project.docnames
        return f"](path:{at[1]}" if left_out else at[0]

    source[0] = re.sub(r"\]\(([\w./-]+\.md)", link, source[0])


def _add_design_file(_app: Sphinx, tree: nodes.document) -> None:
    """A guide page's first block gets a second tab, if all that it does is to declare a design."""
    code = next(tree.findall(nodes.literal_block), None)
    if code is None or code.get("language") != "python" or "Design(" not in code.astext():
        return
    if ".open(" in code.astext() or (design := _declared(code.astext())) is None:
        return
    text = dumps(design.schema)
    box = nodes.container(classes=["tabs-of-code"])
    code.replace_self(box)
    box += [code, nodes.literal_block(text, text, language="yaml")]


def _name_columns(_app: Sphinx, tree: nodes.document) -> None:
    """The first column of a table often needs no heading, but for those who hear the table."""
    for head in tree.findall(nodes.thead):
        for entry in head.findall(nodes.entry):
            if not entry.astext():
                entry += nodes.inline("", "Of what", classes=["heard"])


def _add_search_words(app: Sphinx, tree: nodes.document) -> None:
    words = SEARCH_WORDS.get(app.env.docname, [])
    if words:
        entries = [("single", word, "", "main", None) for word in words]
        tree.insert(0, addnodes.index(entries=entries))


def _declared(code: str) -> Design | None:
    module = ModuleType("declared")
    sys.modules[module.__name__] = module
    try:
        exec(compile(code, module.__name__, "exec", dont_inherit=True), module.__dict__)
    finally:
        del sys.modules[module.__name__]
    found = vars(module).get("design")
    return found if isinstance(found, Design) and found.schema.entities else None


def sections(env: BuildEnvironment) -> list[Section]:
    """The entries on top: each list of the home page is a section, led by its first page."""
    found = []
    for tree in _trees(env, HOME):
        pages = [page for _, page in tree["entries"]]
        groups = [Group(tree["caption"], "", [_entry(env, page) for page in pages])]
        if len(pages) == 1:
            groups = [_group(env, inner) for inner in _trees(env, pages[0])]
        found.append(Section(tree["caption"], pages[0], groups))
    return found


def _trees(env: BuildEnvironment, page: str) -> list[addnodes.toctree]:
    return list(env.get_doctree(page).findall(addnodes.toctree))


def _group(env: BuildEnvironment, tree: addnodes.toctree) -> Group:
    around = tree.parent.parent if isinstance(tree.parent, nodes.compound) else tree.parent
    first = next((child for child in around.children if isinstance(child, nodes.paragraph)), None)
    heading = next((child for child in around.children if isinstance(child, nodes.title)), None)
    title = tree["caption"] or (heading.astext() if heading else "")
    entries = [_entry(env, page) for _, page in tree["entries"] if page in env.titles]
    return Group(title, first.astext() if first else "", entries)


def _entry(env: BuildEnvironment, page: str) -> Entry:
    return Entry(env.titles[page].astext(), page)


def _add_frame(
    app: Sphinx,
    pagename: str,
    _template: str,
    context: dict[str, Any],
    _tree: nodes.document | None,
) -> None:
    found = sections(app.env)
    context["sections"] = found
    context["section"] = next((one for one in found if _holds(one, pagename)), None)


def _holds(section: Section, page: str) -> bool:
    folder = Path(section.page).parent
    inside = folder != Path() and Path(page).is_relative_to(folder)
    listed = any(page == entry.page for group in section.groups for entry in group.entries)
    return listed or page == section.page or (inside and section.title != "Start")
