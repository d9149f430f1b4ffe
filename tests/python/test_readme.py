# SPDX-License-Identifier: Apache-2.0
"""README.md against the repository: its example runs, its table is the report's, its links lead somewhere."""

from __future__ import annotations

import doctest
import importlib.util
import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def rendered(report: dict[str, Any]) -> str:
    """What tools/bench_table.py makes of a report."""
    spec = importlib.util.spec_from_file_location("bench_table", ROOT / "tools/bench_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return str(module.render(report))


def test_the_python_example_runs() -> None:
    example = re.search(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert example is not None
    test = doctest.DocTestParser().get_doctest(example[1], {}, "README.md", "README.md", 0)
    assert len(test.examples) >= 4
    assert doctest.DocTestRunner().run(test).failed == 0


def test_nothing_is_left_to_fill_in() -> None:
    assert re.search(r"@[A-Z0-9_]+@", TEXT) is None


def test_the_table_is_that_of_the_report_it_links() -> None:
    linked = set(re.findall(r"\]\((bench/results/[^)]+\.json)\)", TEXT))
    assert len(linked) == 1, linked
    report = json.loads((ROOT / linked.pop()).read_text(encoding="utf-8"))
    tables = re.findall(r"(?:^\|.*\n)+", TEXT, re.MULTILINE)
    assert rendered(report) + "\n" in tables


def test_links_resolve() -> None:
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", TEXT)
    assert len(targets) > 5
    assert [target for target in targets if "://" not in target and not (ROOT / target).exists()] == []
