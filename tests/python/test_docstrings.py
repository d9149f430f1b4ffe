# SPDX-License-Identifier: Apache-2.0
"""Docstrings of the public functions say what each argument is and what is raised.

An argument or exception may also be named by the class, or by a function that the docstring refers to in
single backticks, such as "otherwise as `powmod`".
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "python" / "manymod"
MODULES = ("manymod", "manymod.ecc", "manymod.rsa", "manymod.ray", "manymod.frames")
#: Raised by Python's own protocols (pickle, iteration, attributes), or by constructors that nobody calls.
PROTOCOL = {"AssertionError", "AttributeError", "IndexError", "NotImplementedError", "StopIteration"}


class Documented(NamedTuple):
    """A public function or class: where docstrings look names up, and what is called."""

    name: str
    docstring: str
    scope: tuple[Any, ...]  # modules and classes
    called: Callable[..., Any] | None


def function_of(member: Any) -> Any:
    """The function of a method of any kind, or of a property."""
    if isinstance(member, property):
        return member.fget
    return getattr(member, "__func__", member)


def public(name: str) -> Iterator[Documented]:
    """The public functions, classes and methods of a module."""
    module = importlib.import_module(name)
    for own in module.__all__:
        thing = getattr(module, own)
        if inspect.isclass(thing) and not issubclass(thing, BaseException):
            made = vars(thing).get("__init__")
            yield Documented(f"{name}.{own}", inspect.getdoc(thing) or "", (thing, module), made)
            for key, member in vars(thing).items():
                function = function_of(member)
                if not key.startswith("_") and inspect.isfunction(function):
                    text = inspect.getdoc(function) or ""
                    yield Documented(f"{name}.{own}.{key}", text, (thing, module), function)
        elif inspect.isfunction(thing):
            yield Documented(f"{name}.{own}", inspect.getdoc(thing) or "", (module,), thing)


PUBLIC = [one for name in MODULES for one in public(name)]


def text_of(one: Documented, depth: int = 3) -> str:
    """A docstring, that of its class, and those of what it refers to."""
    texts = [one.docstring]
    if inspect.isclass(one.scope[0]):
        texts.append(inspect.getdoc(one.scope[0]) or "")
    if depth == 0:
        return "\n".join(texts)
    for path in set(re.findall(r"(?<!`)`([A-Za-z_][\w.]*)`(?!`)", one.docstring)):
        for start in one.scope:
            found, owner = start, start
            for part in path.removeprefix("manymod.").split("."):
                owner, found = found, function_of(getattr(found, part, None))
            if callable(found):
                scope = (owner, *one.scope) if inspect.isclass(owner) else one.scope
                referred = Documented(path, inspect.getdoc(found) or "", scope, None)
                texts.append(text_of(referred, depth - 1))
                break
    return "\n".join(texts)


def raised(function: Callable[..., Any]) -> set[str]:
    """The exceptions that the body of a function raises itself."""
    if function.__code__.co_filename.startswith("<"):  # made by dataclasses
        return set()
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    thrown = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc]
    names = {ast.unparse(exc.func if isinstance(exc, ast.Call) else exc).rpartition(".")[2] for exc in thrown}
    return {name for name in names if name[:1].isupper()} - PROTOCOL


@pytest.mark.parametrize("one", PUBLIC, ids=[one.name for one in PUBLIC])
def test_a_docstring_names_arguments_and_exceptions(one: Documented) -> None:
    assert one.docstring
    if one.called is None:
        return
    text = f"{text_of(one)}\n{inspect.getdoc(one.called)}"
    parameters = [name for name in inspect.signature(one.called).parameters if not name.startswith("_")]
    names = {*parameters} - {"self", "cls", "options"} | raised(one.called)
    assert {name for name in names if not re.search(rf"\b{name}\b", text)} == set()


def test_functions_are_found() -> None:
    """Guards the test above."""
    names = {one.name for one in PUBLIC}
    assert {"manymod.powmod", "manymod.ecc.Curve.sign", "manymod.rsa.KeyRing.decrypt"} <= names
    assert len(names) > 100


def returns(docstring: str) -> str:
    """The first line of a section of results, without what is in double backticks; else an empty text."""
    found = re.search(r"^(?:Returns|Yields):\n\s*(.*)", docstring, re.MULTILINE)
    return re.sub(r"``.+?``", "", found[1]) if found else ""


def test_no_docstring_has_a_colon_in_the_first_line_of_its_results() -> None:
    """Sphinx takes what is before it for a type, and looks that up: `make docs` fails."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    wrong = [
        f"{path.relative_to(SOURCES)}: {line}"
        for path in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, documented) and ":" in (line := returns(ast.get_docstring(node) or ""))
    ]
    assert wrong == []
    assert returns("Sign.\n\nReturns:\n    Signatures: bytes, ``a:b``.\n") == "Signatures: bytes, ."
