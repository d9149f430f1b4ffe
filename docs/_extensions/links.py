# SPDX-License-Identifier: Apache-2.0
"""How docstrings and links of pages are read, where Sphinx and MyST read them otherwise."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

FILE_NAME = re.compile(r"[\w./-]+\.md")
VALUES = {"attribute", "data", "property"}


def resolved(
    app: Sphinx,
    env: BuildEnvironment,
    node: pending_xref,
    contents: nodes.TextElement,
) -> nodes.Node | None:
    """Return what stands for a reference that names no page and no object, or None for a broken one.

    A word in single backticks that is no object of the package is code. A name of C in a signature of C++
    is that of the C interface.
    """
    target = str(node["reftarget"])
    if node.get("refdomain") == "py" and node["reftype"] == "obj" and not target.startswith("manymod."):
        return contents
    if node.get("refdomain") == "cpp" and target.lower().startswith("mm_"):
        found = env.domains["c"].resolve_any_xref(env, node["refdoc"], app.builder, target, node, contents)
        return found[0][1] if found else None
    return None


def links_of_a_page(app: Sphinx, tree: nodes.document) -> None:
    """Adapt what is written for GitHub.

    A link to a folder of the repository is its text alone. Blocks of Python lose the empty line that ends
    them for doctest. Two hyphens before a description become one dash; `smartquotes` would also make one of
    those that begin an option.
    """
    page = Path(app.env.doc2path(app.env.docname))
    for node in list(tree.findall(pending_xref)):
        if node["reftype"] == "myst" and (page.parent / str(node["reftarget"])).is_dir():
            node.replace_self(node.children)
    for text in list(tree.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" \N{EN DASH} "))
    for block in tree.findall(nodes.literal_block):
        if block.rawsource == block.astext():
            block.rawsource = block.rawsource.rstrip()
            block.children = [nodes.Text(block.rawsource)]


def titles_for_file_names(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Give a link whose text is the file name of a page, as GitHub shows it, the title of that page."""
    folder = posixpath.dirname(app.builder.get_target_uri(page))
    for link in tree.findall(nodes.reference):
        if FILE_NAME.fullmatch(link.astext()):
            path = posixpath.normpath(posixpath.join(folder, str(link.get("refuri", "")).partition("#")[0]))
            title = app.env.titles.get(path.removesuffix(".html"))
            if title is not None:
                link.children = [nodes.inline("", title.astext())]


def links_from_docs(app: Sphinx, path: Path, parent: str, text: list[str]) -> None:  # noqa: ARG001
    """Point the links of an included page of the repository's root where they point in docs/."""
    if len(path.parts) == 1:
        text[0] = re.sub(r"\]\((?!\w+:|#)", "](../", text[0])


class _Values:
    """Docstrings of values, which Napoleon would take for ``type: description``."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def keep(self, app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:  # noqa: ARG002
        """Before Napoleon."""
        self.lines = list(lines)

    def restore(self, app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:  # noqa: ARG002
        """After Napoleon."""
        if what in VALUES:
            lines[:] = self.lines


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    values = _Values()
    app.connect("missing-reference", resolved)
    app.connect("doctree-read", links_of_a_page)
    app.connect("doctree-resolved", titles_for_file_names)
    app.connect("include-read", links_from_docs)
    app.connect("autodoc-process-docstring", values.keep, priority=400)
    app.connect("autodoc-process-docstring", values.restore, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
