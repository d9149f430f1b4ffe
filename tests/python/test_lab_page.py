# SPDX-License-Identifier: Apache-2.0
"""The page of `manymod lab` in a browser: plots are drawn, tables are sorted, nothing goes wrong.

The report is a small one that is stored. Chromium is installed by `tools/setup_system.sh test`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from manymod.lab.report import html, markdown
from manymod.lab.report.plots import plots
from manymod.lab.report.view import sections, skipped
from manymod.lab.store import read

REPORT = read(Path(__file__).parent / "vectors" / "lab_report.json")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

#: Before the page's own script: keeps what goes wrong.
LISTEN = """<script>
window.problems = [];
window.addEventListener("error", (event) => window.problems.push(event.message));
console.error = (...values) => window.problems.push(values.join(" "));
</script>"""
#: After it: sorts a table both ways, hides a series, filters rows, and leaves the outcome in the document.
ACT = """<script>
const sorted = [...document.querySelectorAll("table")].find((one) => one.tBodies[0].rows.length > 3);
const heading = [...sorted.tHead.rows[0].cells].find((one) => one.textContent === "here");
const keys = () => [...sorted.tBodies[0].rows].map((row) => row.cells[heading.cellIndex].dataset.key);
const outcome = {};
heading.firstElementChild.click();
outcome.up = keys();
outcome.aria = heading.getAttribute("aria-sort");
heading.firstElementChild.click();
outcome.down = keys();
document.querySelector(".legend input").click();
outcome.hidden = document.querySelectorAll("svg .off").length;
const input = document.getElementById("filter");
input.value = "no such row";
input.dispatchEvent(new Event("input"));
outcome.shown = [...document.querySelectorAll("tbody tr")].filter((row) => !row.hidden).length;
outcome.figures = document.querySelectorAll("figure svg").length;
outcome.points = document.querySelectorAll("figure svg circle").length;
const within = (length, most) => length.baseVal.value >= 0 && length.baseVal.value <= most;
const circles = [...document.querySelectorAll("figure svg circle")];
outcome.outside = circles.filter((one) => !(within(one.cx, 640) && within(one.cy, 380))).length;
outcome.wide = document.documentElement.scrollWidth > window.innerWidth;
outcome.problems = window.problems;
document.body.dataset.outcome = JSON.stringify(outcome);
</script>"""


class _Outcome(HTMLParser):
    """The outcome in a document."""

    found: Any = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        text = dict(attrs).get("data-outcome") if tag == "body" else None
        if text:
            self.found = json.loads(text)


def in_browser(page: Path, profile: Path) -> tuple[Any, str]:
    """The outcome of a page, and what the browser logged."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("no Chromium: apt install chromium, or tools/setup_system.sh test as root")
    options = ["--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    options += ["--enable-logging=stderr", "--dump-dom"]
    if os.geteuid() == 0:
        options.append("--no-sandbox")
    finished = subprocess.run(
        [browser, *options, f"--user-data-dir={profile}", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    parser = _Outcome()
    parser.feed(finished.stdout)
    return parser.found, finished.stderr


def test_the_page_works_in_a_browser(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    text = html.render(REPORT)
    page.write_text(text.replace("<style>", LISTEN + "<style>", 1).replace("</body>", ACT + "</body>", 1))
    outcome, log = in_browser(page, tmp_path / "profile")
    assert outcome is not None, log
    assert outcome["problems"] == []
    assert "CONSOLE" not in log
    up, down = ([float(key) for key in outcome[name]] for name in ("up", "down"))
    assert len(up) > 3
    assert up == sorted(up)
    assert down == sorted(up, reverse=True)
    assert outcome["aria"] == "ascending"
    assert outcome["hidden"] == 1
    assert outcome["shown"] == 0
    expected = plots(REPORT)
    assert outcome["figures"] == len(expected) >= 4
    assert outcome["points"] == sum(len(series["points"]) for plot in expected for series in plot["series"])
    assert outcome["outside"] == 0
    assert not outcome["wide"]


def test_the_page_needs_nothing_from_elsewhere() -> None:
    text = html.render(REPORT)
    assert not re.search(r"\b(?:src|href)=[\"'](?!#|data:)", text)
    assert not re.search(r"@import|url\(|fetch\(|import\(", text)
    assert set(re.findall(r"https?://[^\s\"'<]+", text)) <= {"http://www.w3.org/2000/svg"} | urls_of_reasons()


def urls_of_reasons() -> set[str]:
    """Addresses in the reasons why rows are skipped: texts to read."""
    return set(re.findall(r"https?://[^\s\"'<]+", json.dumps([group.why for group in skipped(REPORT)])))


def test_texts_are_escaped() -> None:
    text = html.render(REPORT)
    assert "item 3 of &lt;8&gt; is wrong" in text
    assert "of <8>" not in text


def test_every_row_is_in_the_page_and_in_markdown() -> None:
    page, text = html.render(REPORT), markdown.render(REPORT)
    for name in REPORT["rows"]:
        assert name in page
        assert name in text
    lines = [line for section in sections(REPORT) for line in section.lines]
    groups = skipped(REPORT)
    assert [group.state for group in groups][:2] == ["failed", "left"]
    missing = [
        name for group in groups for name in group.rows if group.state in {"failed", "left", "skipped"}
    ]
    assert len(lines) + len(missing) == len(REPORT["rows"])
