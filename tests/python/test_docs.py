# SPDX-License-Identifier: Apache-2.0
"""The documents against the code: examples run, links resolve, and lists are complete."""

from __future__ import annotations

import doctest
import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
from tests.python import fake_gpu
from tests.python.device_array_support import on_device

import bench_table
import pairwise

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("apps", "docs", "bench", "examples", "reference", "src", "tests", "tools")
PAGES = sorted([*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))])
CODE = sorted(
    path
    for folder in (*FOLDERS, "include", "daemon", "python", "cmake")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".cpp", ".hpp", ".h", ".c", ".cu", ".cuh", ".py", ".sh", ".cmake"}
)
WALKED = [ROOT / "docs/tutorial.md", *sorted((ROOT / "docs/howto").glob("*.md"))]
DOCTEST_OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@cache
def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^\s*```.*?^\s*```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


@cache
def headings(page: Path) -> list[str]:
    """The headings of a page."""
    return re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)


@cache
def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page.

    >>> "the-limit" in anchors(ROOT / "docs/cpu.md")
    True
    """
    slugs = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings(page)]
    return {
        slug if n == 0 else f"{slug}-{n}" for i, slug in enumerate(slugs) for n in [slugs[:i].count(slug)]
    }


@pytest.mark.parametrize("page", [page for page in PAGES if page not in WALKED], ids=name_of)
def test_python_examples_run(page: Path) -> None:
    results = doctest.testfile(str(page), module_relative=False, optionflags=DOCTEST_OPTIONS)
    assert results.failed == 0


def blocks(page: Path, on_gpu: bool) -> Iterator[tuple[str, str, int]]:
    """Language, text and line of blocks of code: those below a heading that names GPUs, or the others."""
    path: list[str] = []
    for found in re.finditer(
        r"^(?P<level>#+) (?P<heading>[^\n]*)$|^(?P<indent> *)```(?P<language>\w+)\n(?P<code>.*?)^ *```",
        page.read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    ):
        if found["heading"]:
            path[len(found["level"]) - 1 :] = [found["heading"]]
        elif ("GPU" in " ".join(path)) == on_gpu:
            line = found.string.count("\n", 0, found.start())
            yield found["language"], textwrap.dedent(found["code"]), line


def walk(page: Path, on_gpu: bool, folder: Path) -> None:
    """Do what the page says, in its order and in one folder: Python's examples and the commands."""
    command = folder / "bin" / "manymod"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m manymod "$@"\n')
    command.chmod(0o755)
    environment = os.environ | {"PATH": f"{command.parent}:{os.environ['PATH']}"}
    runner, names = doctest.DocTestRunner(optionflags=DOCTEST_OPTIONS), {"__name__": "page"}
    for language, code, line in blocks(page, on_gpu):
        if language == "python":
            example = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), line)
            assert example.examples
            assert runner.run(example, clear_globs=False).failed == 0
            names = example.globs
        elif language == "sh":
            shell = ["bash", "-ec", code]
            done = subprocess.run(
                shell, env=environment, capture_output=True, text=True, timeout=200, check=False
            )
            assert done.returncode == 0, f"{page}:{line}: {done.stderr}"


def walkable(on_gpu: bool) -> list[Path]:
    """The pages with something to do."""
    return [page for page in WALKED if {"python", "sh"} & {block[0] for block in blocks(page, on_gpu)}]


def test_pages_have_something_to_do() -> None:
    """Guards the tests below: a page without a recognised block would not be tested."""
    names = {page.stem for page in WALKED}
    assert {page.stem for page in walkable(on_gpu=False)} == names - {"container", "gpu-arrays", "kernel"}
    assert {page.stem for page in walkable(on_gpu=True)} == {"gpu-arrays", "tutorial"}


@pytest.mark.parametrize("page", walkable(on_gpu=False), ids=name_of)
def test_what_a_page_says_can_be_done(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the tutorial and the how-to pages. Blocks of `console`, which install or measure, are not run."""
    monkeypatch.chdir(tmp_path)
    walk(page, False, tmp_path)


@on_device
@pytest.mark.parametrize("page", walkable(on_gpu=True), ids=name_of)
def test_what_a_page_says_of_gpus(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    walk(page, True, tmp_path)


@pytest.mark.skipif("FAKE_CUDA" in os.environ, reason="this is the fake driver's process")
def test_what_pages_say_of_gpus_on_the_fake_driver() -> None:
    fake_gpu.needed()
    tests = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-k",
        "of_gpus",
    ]
    done = subprocess.run(
        [*tests, __file__],
        env=fake_gpu.environment(devices=1),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^2 passed, 1 skipped", done.stdout.splitlines()[-1])


PROGRAMS = [
    path.read_text(encoding="utf-8")
    for pattern in ("examples/**/*.c*", "tests/daemon/*.cpp", "tests/cmake/*.cu")
    for path in ROOT.glob(pattern)
    if path.is_file()
]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_c_and_cpp_on_a_page_are_parts_of_tested_programs(page: Path) -> None:
    """ctest compiles them, and runs those that need no GPU."""
    for on_gpu in (False, True):
        for language, code, line in blocks(page, on_gpu):
            if language in {"c", "cpp"} and not code.startswith("/* before */"):  # by another library
                shapes = [textwrap.indent(code, " " * depth) for depth in (0, 2, 4)]
                assert any(shape in program for shape in shapes for program in PROGRAMS), f"{page}:{line}"


def test_the_python_guide_has_examples() -> None:
    """Guards the test above: a guide without a recognised example would pass it."""
    examples = doctest.DocTestParser().get_examples((ROOT / "docs/python.md").read_text())
    assert len(examples) > 20


def broken(page: Path) -> list[str]:
    """The relative links of a page whose file, or whose anchor in a page, does not exist."""
    missing = []
    for link in re.findall(r"\]\(([^)\s]+)[^)]*\)", prose(page)):
        name, _, anchor = link.partition("#")
        if "://" in name or name.startswith("mailto:"):
            continue
        target = (page.parent / name) if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            missing.append(link)
    return missing


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_relative_links_and_anchors_resolve(page: Path) -> None:
    assert broken(page) == []


def test_broken_links_are_found(tmp_path: Path) -> None:
    """Guards the test above."""
    page = tmp_path / "page.md"
    page.write_text(
        '# A `b`: c\n[a](#a-b-c) [b](#d) [c](none.md) [d](page.md#e "title") [e](https://a.b/c)\n```\n[f](f)\n```\n'
    )
    assert broken(page) == ["#d", "none.md", "page.md#e"]


def test_every_page_is_linked() -> None:
    """A page that no other page links to, and that is in no list of the site's, is not found by a reader."""
    linked = {
        (page.parent / link).resolve()
        for page in PAGES
        for link in re.findall(r"\]\(([^)#\s]+\.md)[^)]*\)", prose(page))
        if "://" not in link
    }
    unlinked = [page for page in PAGES if page not in linked | listed() and page.name != "README.md"]
    assert [name_of(page) for page in unlinked] == ["docs/index.md"]


def listed() -> set[Path]:
    """The pages that the lists of the site have."""
    found = []
    for page in (ROOT / "docs/index.md", ROOT / "docs/reference/index.md"):
        for body in re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
            names = [
                re.sub(r".*<(.*)>", r"\1", line) for line in body.splitlines() if line[:1] not in {"", ":"}
            ]
            found += [(page.parent / name).resolve() for name in names]
    return {
        page
        for path in found
        for page in path.parent.glob(f"{path.name}.*")
        if page.suffix in {".md", ".rst"}
    }


def test_every_page_of_the_site_is_in_a_list() -> None:
    pages = {*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.rst"), *ROOT.glob("*.md")}
    pages |= {*(ROOT / "bench").rglob("*.md"), *(ROOT / "apps").rglob("*.md")}
    assert {name_of(page) for page in pages - listed()} == {"docs/index.md", "README.md"}


def test_the_pictures_are_what_the_tool_draws() -> None:
    """Of the reports as they are; pages show all of them, and a plot of bench/cuda/plot.py."""
    from figures.__main__ import PICTURES

    folder = ROOT / "docs/images"
    drawn = {f"{name}.svg": draw().text() for name, draw in PICTURES.items()}
    assert [name for name, text in drawn.items() if (folder / name).read_text() != text] == []
    shown = {
        name
        for page in PAGES
        for name in re.findall(r"!\[[^\]]*\]\([\w./]*images/([\w.]+)\)", page.read_text())
    }
    assert {path.name for path in folder.iterdir()} == shown == {*drawn, "throughput_h200.svg"}


def test_comments_name_pages_and_sections_that_exist() -> None:
    """A comment that sends the reader to a page, or to a section of it, is right.

    docs/rns.md lists the sections of the pages in docs/rns/ that comments name.
    """
    wrong = []
    for path in CODE:
        text = re.sub(r"\n\s*(?://[/!]?|#|\*)?\s*", " ", path.read_text(encoding="utf-8"))
        for name, section in re.findall(r"\b(docs/[\w/]+\.md)(?:,? \"([^\"]+)\")?", text):
            page = ROOT / name
            found = page.exists() and any(heading.startswith(section) for heading in headings(page))
            if not found and not (name == "docs/rns.md" and section in prose(page)):
                wrong.append(f"{name_of(path)}: {name} {section}")
    assert wrong == []


PERFORMANCE_TABLES = [
    ("powers_emerald_rapids", "render"),
    *((path.stem, "render_ecc") for path in sorted((ROOT / "bench/results").glob("ecc_cpu_*.json"))),
    ("elementwise_cpu_zen4", "render_elementwise"),
    ("gpu_curves_h100", "render_gpu_curves"),
]


@pytest.mark.parametrize(("name", "render"), PERFORMANCE_TABLES)
def test_the_performance_page_has_the_table_of_its_report(name: str, render: str) -> None:
    """What tools/bench_table.py prints of the report."""
    report = json.loads((ROOT / f"bench/results/{name}.json").read_text(encoding="utf-8"))
    assert f"\n\n{getattr(bench_table, render)(report)}\n\n" in (ROOT / "docs/performance.md").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("report", sorted((ROOT / "bench/results").glob("app_*.json")), ids=name_of)
def test_the_page_of_an_application_has_the_table_of_its_report(report: Path) -> None:
    page = ROOT / "apps" / report.stem.removeprefix("app_").rpartition("_")[0] / "README.md"
    results = json.loads(report.read_text(encoding="utf-8"))["results"]
    assert f"\n\n{pairwise.table(results)}\n\n" in page.read_text(encoding="utf-8")


def test_the_c_guide_shows_the_tested_example() -> None:
    """ctest compiles and runs examples/item_status.c; the guide shows the same text."""
    guide = (ROOT / "docs/c-api.md").read_text()
    assert f"```c\n{(ROOT / 'examples/item_status.c').read_text()}```" in guide


def test_the_device_guide_shows_the_tested_project() -> None:
    """The test of the installed library compiles examples/device/project; the guide shows the same text."""
    guide = (ROOT / "docs/device.md").read_text()
    for language, name in (("cmake", "CMakeLists.txt"), ("cpp", "products.cu")):
        assert f"```{language}\n{(ROOT / 'examples/device/project' / name).read_text()}```" in guide


def test_the_container_page_shows_the_recipe() -> None:
    recipe = (ROOT / "examples/container/Dockerfile").read_text()
    assert f"```dockerfile\n{recipe}```" in (ROOT / "docs/howto/container.md").read_text()


def test_the_environment_page_lists_every_variable() -> None:
    """Every MANYMOD_* variable that code or tests read is on the page, and no other."""
    reading = re.compile(r"(?:getenv\(|environment_variable\(|environ(?:\.get)?[(\[])\s*\"(MANYMOD_\w+)\"")
    sources = [
        path
        for folder in ("src", "python", "tests", "bench", "examples", "reference", "tools")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".cpp", ".hpp", ".c", ".py"} and path.is_file()
    ]
    read = {name for path in sources for name in reading.findall(path.read_text())}
    # The list of GPU backends names the variable that hides the devices of each.
    backends = (ROOT / "src/dispatch/devices.cpp").read_text()
    read |= set(re.findall(r"::backend\(\), \"(MANYMOD_\w+)\"", backends))
    page = (ROOT / "docs/environment.md").read_text()
    assert read == set(re.findall(r"^\| `(MANYMOD_\w+)`", page, re.MULTILINE))


def commands_of(group: click.Group) -> Iterator[click.Command]:
    """The commands of a group and of the groups in it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield command
        if isinstance(command, click.Group):
            yield from commands_of(command)


def test_the_command_line_guide_names_commands_and_options_that_exist() -> None:
    from manymod.cli.main import main

    guide = (ROOT / "docs/cli.md").read_text()
    names = set(main.list_commands(click.Context(main)))
    options = {
        option
        for command in commands_of(main)
        for parameter in command.params
        for option in [*parameter.opts, *parameter.secondary_opts]
    }
    assert set(re.findall(r"^manymod (\w+)", guide, re.MULTILINE)) <= names
    assert set(re.findall(r"--[a-z][\w-]*", guide)) <= options | {"--help"}
    assert {"powmod", "info", "selftest", "bench", "rsa", "ecc"} <= names


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_names_of_the_c_interface_are_declared(page: Path) -> None:
    """Names of the C ABI that a page mentions are declared in its headers."""
    header = "".join(path.read_text() for path in sorted((ROOT / "include/manymod").glob("*.h")))
    mentioned = set(re.findall(r"\b(?:mm_\w+|MM_\w+)\b", page.read_text()))
    mentioned -= {"mm_", "MM_", "MM_ITEM_", "MM_ERR_", "MM_DEVICE_KERNEL", "MM_BLOCK_KERNEL"}
    assert {name for name in mentioned if not re.search(rf"\b{name}\b", header)} == set()
