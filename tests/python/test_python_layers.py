# SPDX-License-Identifier: Apache-2.0
"""The layers of the Python package look down only, and its modules import each other without cycles."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "manymod"

# From the ground up. A module may import modules of the lines before its own, of its own line (without
# cycles), and packages from outside. A name stands for a module or a whole package of them; where several
# fit, the longest is meant.
LAYERS = [
    ["_core", "_extras", "_forked", "_starting", "errors"],
    ["_hashes", "_key_files", "_openssh"],
    ["_arrow", "_device_packages", "_indexing", "_limbs", "_series", "intarray"],
    ["_answer", "_arrow_operands", "_device", "_operand_kinds", "_operands", "device_array"],
    ["_answers", "_arrow_answers", "_device_answer", "_byte_items", "_byte_typing", "_run", "_typing"],
    ["asynchronous", "plan"],
    ["_byte_calls", "_key_indices"],
    ["arithmetic", "fixed_base", "hardware", "ops", "powers"],
    ["_terms", "multi", "reductions"],
    ["residues"],
    ["manymod"],  # manymod/__init__.py, which names what is public
    ["_loop_answers", "_signing_arrays"],
    ["_batch_signer"],
    ["ecc", "rsa"],
    ["tables"],
    ["frames", "ray"],
    ["cli"],
    ["cli.table", "cli.ecc", "cli.rsa", "cli.bench", "cli.signd", "cli.tune"],
    ["lab"],  # rows and their runner, on the measuring of cli.bench
    ["cli.lab"],
    ["cli.main"],
    ["__main__"],
]
# manymod itself, "from manymod import _core", is the ground floor for modules below its own line.
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
#: Packages that split tables and map functions over them.
ENGINES = {"ray", "duckdb", "polars", "pyspark"}
#: What a layer never imports from outside.
FORBIDDEN = {
    "tables": {"click", "rich", *ENGINES},
    "frames": {"click", "rich", *(ENGINES - {"polars"})},
    "ray": {"click", "rich", *(ENGINES - {"ray"})},
    "ecc": {"click", "rich", "pyarrow"},
    "rsa": {"click", "rich", "pyarrow"},
    "": {"click", "rich", "gmpy2", "cryptography", *ENGINES},
}


def module_of(path: Path) -> str:
    """Return a file's module, relative to the package: "tables.run", "tables" for its __init__, "manymod"."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return name or "manymod"


PATHS = {module_of(path): path for path in sorted(PACKAGE.rglob("*.py*")) if path.suffix in {".py", ".pyi"}}


def layer_of(module: str) -> str:
    """Return the longest name among the layers that a module belongs to."""
    parts = module.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next(name for name in names if name in LEVEL)


def statements(path: Path, everywhere: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """Iterate over imports: all of a file, or those that run when it is imported and those for types."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        if everywhere or not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            pending.extend(ast.iter_child_nodes(node))


def names_imported(path: Path, everywhere: bool = True) -> Iterator[str]:
    """Iterate over the full names of modules, or of what is in them, that a file imports."""
    for node in statements(path, everywhere):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            assert node.level == 0, f"{path} imports by a relative name"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own_imports(module: str) -> set[str]:
    """Return the modules of the package that a module imports, in functions too."""
    found = set()
    for name in names_imported(PATHS[module]):
        if name.partition(".")[0] != "manymod":
            continue
        inner = name.removeprefix("manymod").lstrip(".")
        while inner and inner not in PATHS:
            inner = inner.rpartition(".")[0]
        found.add(inner or "manymod")
    return found - {module}


def test_every_module_has_its_layer() -> None:
    assert {layer_of(module) for module in PATHS} == set(LEVEL)


@pytest.mark.parametrize("module", sorted(PATHS))
def test_modules_import_what_is_below(module: str) -> None:
    level = LEVEL[layer_of(module)]
    above = [name for name in own_imports(module) if LEVEL[layer_of(name)] > level]
    assert above == []


def test_there_are_no_cycles() -> None:
    """Neither at import nor through functions or imports for types."""
    try:
        TopologicalSorter({module: own_imports(module) for module in PATHS}).prepare()
    except CycleError as error:
        pytest.fail(f"modules import each other: {' -> '.join(error.args[1])}")


@pytest.mark.parametrize("module", sorted(PATHS))
def test_packages_of_extras_stay_in_their_layers(module: str) -> None:
    """Imports at the top of a module; `cli` may import anything."""
    top = module.partition(".")[0]
    if top in {"cli", "_core"}:
        return
    forbidden = FORBIDDEN.get(top, FORBIDDEN[""] | {"pyarrow"})
    outside = {name.partition(".")[0] for name in names_imported(PATHS[module], everywhere=False)}
    assert outside & forbidden == set()


def test_tables_never_see_a_terminal() -> None:
    """Nor do functions in it."""
    for module, path in PATHS.items():
        if module.partition(".")[0] in {"tables", "frames", "ray"}:
            names = set(names_imported(path))
            assert not {name for name in names if name.startswith(("click", "rich", "manymod.cli"))}, module


def test_no_module_is_long() -> None:
    long = {module: n for module, path in PATHS.items() if (n := path.read_text().count("\n")) > 500}
    assert long == {}
