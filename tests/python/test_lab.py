# SPDX-License-Identifier: Apache-2.0
"""`manymod lab`: its rows, how they are measured and kept, and the comparison of two reports."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.python import fake_gpu
from tests.python.cli_support import run as run_cli

from manymod.lab import catalogue, runner
from manymod.lab.machine import Machine
from manymod.lab.model import Figure, Hardware, Row, RowError, Unavailable
from manymod.lab.recipes.arithmetic import chain, power, product
from manymod.lab.report.compare import changes, summary
from manymod.lab.report.view import head, line
from manymod.lab.runner import RECIPES, Settings, run
from manymod.lab.store import Store, StoreError, read
from manymod.lab.units import UNITS, normalised
from manymod.lab.work import Plan, Result, Work, race, sampler

REPORT = Path(__file__).parent / "vectors" / "lab_report.json"
ROWS = {row.id: row for row in catalogue.load()}
SHORT = Plan(samples=1, seconds=0, longest=60)
#: What has to be repeated, by paper.
TABLES = {
    "000": {"I", "II", "III"},
    "001": {"3"},
    "002": {"II", "III", "IV", "V"},
    "003": {"1", "2", "3", "4", "5", "w-NAF"},
    "004": {"1", "3", "4", "5", "7"},
}


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with Machine() as found:
        yield found


def settings(**changed: Any) -> Settings:
    return Settings(**{"plan": SHORT, "minutes": 0, "devices": ("cuda", "cpu"), "again": False, **changed})


def test_every_table_has_rows() -> None:
    for paper, tables in TABLES.items():
        assert {row.table for row in ROWS.values() if row.paper == paper} == tables


def test_rows_name_recipes_and_units_that_exist() -> None:
    for row in ROWS.values():
        assert row.measures
        assert {measure["by"] for measure in row.measures} <= RECIPES.keys()
        assert {measure["on"] for measure in row.measures} <= {"cpu", "cuda"}
        assert row.figure is None or row.figure.unit in UNITS
        assert "{" not in row.what + row.note + json.dumps([*map(dict, row.measures)]).replace('{"', "")


def test_figures_are_the_papers() -> None:
    """Some of each paper, read from its pages."""
    printed = {
        "000/I/1536/threads": 8,
        "000/II/2048/100+500/latency": 82.3,
        "000/III/1024/emmart_2015": 129700,
        "001/3/cpu": 17,
        "002/II/780ti_row32/128": 7922e6,
        "002/III/980ti_two_pass16/512": 1326e6,
        "002/IV/sqr/384": 3.77,
        "003/1/mul/shared/224": 107,
        "003/2/addmod/160": 15,
        "003/3/twice/registers/192": 0.7,
        "003/4/add/pace/384": 5.11,
        "003/5/gpu/160": 5586,
        "004/1/chains/1024": 704,
        "004/1/redundant/1024": 1224,
        "004/3/cycles/2048": 12211,
        "004/4/all/rate/1024": 258370,
        "004/5/keliris/512": 3846,
        "004/7/zheng/2048": 38975,
    }
    figures = {name: ROWS[name].figure for name in printed}
    assert {name: figure and figure.value for name, figure in figures.items()} == printed
    missing = ROWS["003/3/add/registers/256"].figure
    assert missing is not None
    assert missing.value is None


def test_table_v_is_tables_ii_and_iii_by_multiprocessor_and_mhz() -> None:
    for row in ROWS.values():
        if not row.id.startswith("002/V/"):
            continue
        _, _, kind, card, bits = row.id.split("/")
        table = "II" if kind == "multiply" else "III"
        raw, by_unit = ROWS[f"002/{table}/{card}/{bits}"].figure, row.figure
        assert raw is not None
        assert by_unit is not None
        hardware = raw.hardware
        assert hardware.units is not None
        assert hardware.mhz is not None
        assert raw.value is not None
        # The paper prints 88.8 K for 87.8 K once.
        expected = normalised(raw.unit, raw.value, hardware.units, hardware.mhz)
        assert by_unit.value == pytest.approx(expected, rel=0.012)


def test_selection_by_name_beginning_and_pattern() -> None:
    rows = list(ROWS.values())
    assert [row.id for row in catalogue.select(rows, ["001/3/cpu"])] == ["001/3/cpu"]
    assert {row.table for row in catalogue.select(rows, ["002/IV"])} == {"IV"}
    assert {row.bits for row in catalogue.select(rows, ["002/II/*/512"])} == {512}
    with pytest.raises(KeyError, match="002/VI"):
        catalogue.select(rows, ["002/VI"])


@pytest.mark.parametrize(
    ("recipe", "more"),
    [
        (power, {"secret": True}),
        (power, {"shared_exponent": True, "batch": 3}),
        (chain, {"operation": "square"}),
        (chain, {"operation": "multiply", "threads": 1, "batch": 2}),
        (product, {"op": "mulmod"}),
        (product, {"op": "addmod", "batch": 5}),
    ],
)
def test_recipes_compute_what_they_say(machine: Machine, recipe: Any, more: dict[str, Any]) -> None:
    """They compare answers themselves."""
    params = {"on": "cpu", "bits": 64, "techniques": ["scalar64"], **more}
    results = race(recipe(params, machine, SHORT), SHORT, None)
    assert {result.name.partition(".")[0] for result in results} == {"scalar64"}
    assert all(result.median > 0 and result.facts["checked"] > 0 for result in results)


def test_recipes_say_what_is_missing(machine: Machine) -> None:
    with pytest.raises(Unavailable, match="has no nothing for cpu"):
        power({"on": "cpu", "bits": 64, "techniques": ["nothing"]}, machine, SHORT)
    with pytest.raises(Unavailable, match="does not compute powmod at 8192 bits"):
        power({"on": "cpu", "bits": 8192, "techniques": ["vcpc512"]}, machine, SHORT)
    entry = next(iter(run_rows([ROWS["004/3/instructions/512"]], machine)))
    assert entry["state"] == "skipped"
    assert "MANYMOD_BUILD_BENCH" in entry["why"]
    absent = next(iter(run_rows([ROWS["peer/powmod/cupqc/2048"]], machine)))
    assert "absent" in absent["why"]


@pytest.mark.parametrize(
    ("row", "name", "runs"),
    [
        (
            "peer/powmod/cgbn/256",
            "cgbn",
            [
                {"operation": "power", "bits": 256, "wrong": [], "per_second": 5},
                {"operation": "power", "bits": 256, "wrong": ["1 of 16"], "per_second": 9},
                {"operation": "chain", "bits": 256, "wrong": [], "per_second": 9},
            ],
        ),
        (
            "peer/SM2/gecc/256",
            "gecc",
            [
                {"library": library, "operation": operation, "scope": scope, "right": right}
                | {"per_second": rate, "items": 8, "shape": "a grid"}
                for library, operation, scope, right, rate in [
                    ("gecc", "multiply", "kernels", True, 4),
                    ("gecc", "multiply", "kernels", True, 5),
                    ("gecc", "multiply", "kernels", False, 9),
                    ("gecc", "multiply", "calls", True, 9),
                    ("gecc", "base", "kernels", True, 9),
                    ("manymod", "multiply", "kernels", True, 9),
                ]
            ],
        ),
    ],
)
def test_other_programs_have_their_right_runs_from_a_report(
    row: str, name: str, runs: list[dict[str, Any]], tmp_path: Path
) -> None:
    file = tmp_path / "report.json"
    report = {"card": "a card", "driver": "1.2", "date": "today", "best": runs, "rows": runs}
    file.write_text(json.dumps(report), encoding="utf-8")
    with Machine(None, {name: file}) as with_report:
        measured = next(iter(run_rows([ROWS[row]], with_report)))
    assert measured["measurement"]["value"] == 5
    assert measured["measurement"]["model"] == "a card"
    file.write_text(json.dumps(report | {"best": [], "rows": []}), encoding="utf-8")
    with Machine(None, {name: file}) as with_report:
        assert "the report has no" in next(iter(run_rows([ROWS[row]], with_report)))["why"]
    with Machine() as without:
        assert f"--report {name}=FILE" in next(iter(run_rows([ROWS[row]], without)))["why"]


def run_rows(rows: list[Row], machine: Machine, **changed: Any) -> list[dict[str, Any]]:
    """Entries of rows, kept nowhere."""

    class Nowhere(Store):
        def save(self) -> None:
            pass

    store = Nowhere(Path("nowhere.json"), machine.facts, {})
    return [entry for _, entry in run(rows, machine, settings(**changed), store)]


def row_of(name: str, *measures: Mapping[str, Any], unit: str = "per_second") -> Row:
    figure = Figure(10.0, unit, Hardware("card", 2, 5))
    return Row(f"000/T/{name}", "000", "T", name, 64, figure, True, measures)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Recipes that need no arithmetic; the list has what was measured."""
    calls: list[str] = []

    def works(params: Mapping[str, Any], _machine: Machine, _plan: Plan) -> list[Work]:
        calls.append(params["name"])
        if params["name"] == "wrong":
            raise RowError("item 1 is wrong")
        if params["name"] == "absent":
            raise Unavailable("not here")
        return [Work("it", sampler(lambda: None, 1), {"device": "cpu", "batch": 1})]

    monkeypatch.setitem(runner.RECIPES, "test", works)
    return calls


def by(name: str) -> dict[str, Any]:
    return {"by": "test", "on": "cpu", "name": name}


def test_a_run_goes_on_where_it_ended(machine: Machine, counted: list[str], tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    rows = [row_of("a", by("a")), row_of("b", by("absent")), row_of("c", by("absent"), by("c"))]

    def entries(**changed: Any) -> dict[str, dict[str, Any]]:
        store = Store(path, machine.facts, {})
        return {row.id: entry for row, entry in run(rows, machine, settings(**changed), store)}

    first = entries()
    assert [entry["state"] for entry in first.values()] == ["measured", "skipped", "measured"]
    assert first[rows[2].id]["instead"] == "not here"
    assert read(path)["rows"].keys() == {row.id for row in rows}
    counted.clear()
    assert list(entries()) == [rows[1].id]
    assert counted == ["absent"]
    assert len(entries(again=True)) == 3


def test_rows_that_measure_the_same_share_it(machine: Machine, counted: list[str]) -> None:
    rows = [row_of("a", by("x")), row_of("b", by("x"), unit="nanoseconds")]
    entries = run_rows(rows, machine)
    assert counted == ["x"]
    rate, nanoseconds = (entry["measurement"]["value"] for entry in entries)
    assert rate * nanoseconds == pytest.approx(1e9)


def test_failures_and_the_end_of_the_time_are_told(machine: Machine, counted: list[str]) -> None:
    (wrong,) = run_rows([row_of("a", by("wrong"), by("a"))], machine)
    assert (wrong["state"], counted) == ("failed", ["wrong"])
    assert "item 1 is wrong" in wrong["why"]
    (left,) = run_rows([row_of("b", by("b"))], machine, minutes=-1)
    assert left["state"] == "left"
    (other,) = run_rows([row_of("c", by("c"))], machine, devices=("cuda",))
    assert other["why"] == "not asked for: cpu"


def test_clock_cycles_need_a_clock_rate(
    machine: Machine, counted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "cpu_mhz", lambda: None)
    (entry,) = run_rows([row_of("a", by("a"), unit="cycles")], machine)
    assert (entry["state"], counted) == ("skipped", ["a"])
    assert "clock rate" in entry["why"]


def test_reports_of_other_machines_and_other_files_are_refused(machine: Machine, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    Store(path, {**machine.facts, "cpu": "another"}, {}).save()
    with pytest.raises(StoreError, match="another machine"):
        Store(path, machine.facts, {})
    path.write_text("[]")
    with pytest.raises(StoreError, match="no report"):
        Store(path, machine.facts, {})


def test_rows_that_cannot_be_measured_again_keep_what_they_have(
    machine: Machine, counted: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "r.json"
    row = row_of("a", by("a"))
    list(run([row], machine, settings(), Store(path, machine.facts, {})))
    before = read(path)["rows"]
    for changed in ({"minutes": -1}, {"devices": ("cuda",)}):
        store = Store(path, machine.facts, {})
        assert [entry["state"] for _, entry in run([row], machine, settings(again=True, **changed), store)]
        assert read(path)["rows"] == before
    assert counted == ["a"]


@pytest.mark.parametrize("content", ["", "[1]", "{}", '{"rows": [1]}', '{"rows": []}', "[" * 100_000])
def test_what_is_no_report_of_a_program_fails_its_rows_alone(
    content: str, counted: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "report.json"
    file.write_text(content)
    kernels = {"by": "device_kernels", "on": "cuda", "form": "f", "operation": "o", "bits": 160}
    rows = [ROWS["peer/powmod/cgbn/256"], row_of("b", kernels), row_of("a", by("a"))]
    reports = {"cgbn": file, "device_kernels": file}
    with Machine(None, reports) as machine:
        entries = run_rows(rows, machine)
    assert {entry["state"] for entry in entries} == {"failed", "measured"}
    assert all(str(file) in entry["why"] for entry in entries if entry["state"] == "failed")
    assert counted == ["a"]


def test_only_what_was_watched_is_called_disturbed(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of bench/ counts instructions: no other process disturbs that."""
    monkeypatch.setitem(runner.RECIPES, "test", lambda *_: [Result("it", (5.0,), {"device": "cpu"})])
    (entry,) = run_rows([row_of("a", by("a"))], machine)
    assert "disturbed" not in line(entry).cells[-1]
    entry["measurement"]["quiet"] = 0
    assert "disturbed" in line(entry).cells[-1]


def test_a_report_of_several_runs_tells_the_samples_of_each(
    machine: Machine, counted: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "r.json"
    for name, plan in (("a", Plan(1, 0, 60)), ("b", Plan(2, 0.001, 60))):
        list(run([row_of(name, by(name))], machine, settings(plan=plan), Store(path, machine.facts, {})))
    assert counted == ["a", "b"]
    told = head(read(path))["method"]
    assert told.startswith(
        "medians of 1 samples of at least 0 s (1 rows) and of 2 samples of at least 0.001 s"
    )
    assert head(read(REPORT))["method"].startswith("medians of 3 samples")


def report_with(samples: list[float], **changed: Any) -> dict[str, Any]:
    """A report of one row."""
    measurement = {
        "unit": "per_second",
        "value": sorted(samples)[len(samples) // 2],
        "samples": samples,
        "spread": 0,
        "quiet": len(samples),
        "what": "it",
        "recipe": "power",
        "on": "cpu",
        "model": "cpu",
        **changed,
    }
    return {"rows": {"r": {"row": {}, "state": "measured", "measurement": measurement}}}


@pytest.mark.parametrize(
    ("samples", "changed", "verdict"),
    [
        ([100, 101, 99, 100, 100], {}, "same"),
        ([104, 103, 105, 104, 104], {}, "same"),  # within the floor of 1 % for each side, three times
        ([110, 111, 109, 110, 110], {}, "faster"),
        ([90, 91, 89, 90, 90], {}, "slower"),
        ([110, 140, 80, 150, 70], {}, "same"),  # its samples vary by more
        ([110, 110], {}, "unclear"),
        ([110, 111, 109, 110, 110], {"quiet": 0}, "unclear"),
        ([110, 111, 109, 110, 110], {"model": "other"}, "differs"),
        ([110, 111, 109, 110, 110], {"what": "another variant"}, "faster"),
    ],
)
def test_verdicts_know_the_noise(samples: list[float], changed: dict[str, Any], verdict: str) -> None:
    before = report_with([100, 101, 99, 100, 100])
    (change,) = changes(before, report_with(samples, **changed))
    assert change.verdict == verdict


def test_less_time_is_faster() -> None:
    sides = [report_with([value] * 5, unit="latency_ms") for value in (10.0, 5.0)]
    (change,) = changes(*sides)
    assert (change.verdict, change.factor) == ("faster", 2)
    assert summary([change]) == "1 faster; median factor 2.000"


def test_rows_of_one_report_alone_are_told() -> None:
    report = read(REPORT)
    other = copy.deepcopy(report)
    name = next(iter(other["rows"]))
    del other["rows"][name]
    found = {change.id: change for change in changes(report, other)}
    assert found[name].verdict == "only one"
    assert {change.verdict for change in found.values()} <= {"same", "only one", "unclear"}


def test_the_command_lists_renders_and_compares(tmp_path: Path) -> None:
    listed = run_cli("lab", "--list", "--only", "002/II/*/512")
    assert [line.split("\t")[0] for line in listed.out.splitlines()] == [
        name for name in ROWS if name.startswith("002/II/") and name.endswith("/512")
    ]
    refused = run_cli("lab", "--list", "--only", "002/VI")
    assert (refused.code, "no row is '002/VI'" in refused.err) == (2, True)
    copied = tmp_path / "r.json"
    copied.write_text(REPORT.read_text())
    assert run_cli("lab", "render", copied).code == 0
    assert "| 001/3/cpu |" in (tmp_path / "r.md").read_text()
    compared = run_cli("lab", "compare", copied, REPORT, "-o", tmp_path / "c.md")
    assert compared.code == 0
    assert " same" in compared.out
    assert "| 001/3/cpu |" in (tmp_path / "c.md").read_text()


def test_the_command_measures_a_row_and_keeps_it(tmp_path: Path) -> None:
    where = ("-o", tmp_path / "r", "--only", "sweep/width/powmod/scalar64.adx/256", "--quick", "1")
    first, second = run_cli("lab", *where), run_cli("lab", *where)
    assert first.code == second.code == 0
    assert "nothing was left to measure" in second.err or "skipped" in second.err
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".html", ".md"}


#: Rows of a GPU by the public interface, with few items and short chains.
ON_A_GPU = """
import json, sys
from manymod.lab.machine import Machine
from manymod.lab.recipes import arithmetic
from manymod.lab.work import Plan, race

arithmetic.FIRST_ON_GPU = arithmetic.MOST_ITEMS = 32
arithmetic.USUAL_STEPS = 8
plan = Plan(1, 0, 60)
common = {"on": "cuda", "bits": 64, "techniques": ["row32"], "threads_per_instance": 1}
with Machine() as machine:
    found = [
        race(recipe({**common, **more}, machine, plan), plan, None)
        for recipe, more in [
            (arithmetic.chain, {"operation": "square"}),
            (arithmetic.chain, {"operation": "multiply"}),
            (arithmetic.power, {"secret": True}),
            (arithmetic.power, {"shared_exponent": True, "batch": 3}),
        ]
    ]
facts = [[(one.name, one.facts["checked"], one.facts["device"]) for one in each] for each in found]
json.dump(facts, sys.stdout)
"""


def test_rows_of_gpus_compute_on_a_gpu() -> None:
    fake_gpu.needed()
    for found in fake_gpu.run(ON_A_GPU):
        (row,) = found
        name, checked, device = row
        assert (name, device) == ("row32.cuda.t1", "cuda:0")
        assert checked > 0
