# SPDX-License-Identifier: Apache-2.0
"""The programs that the build runs: the CUDA compiler's requirement, its reports, and their check."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import check_device_resources
import pytest

ROOT = Path(__file__).resolve().parents[2]


def load(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


cuda_compiler = load("tools/build_backend/cuda_compiler.py")
compile_device = load("cmake/compile_device.py")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    (tmp_path / "bin").mkdir()
    return tmp_path


def requirements(machine: Path, gpu: bool, nvcc: bool, **settings: str) -> list[str]:
    if gpu:
        (machine / "proc/driver/nvidia/gpus/0000:01:00.0").mkdir(parents=True, exist_ok=True)
    if nvcc:
        (machine / "usr/local/cuda/bin").mkdir(parents=True, exist_ok=True)
        (machine / "usr/local/cuda/bin/nvcc").touch()
    environ = {"PATH": str(machine / "bin")} | settings
    found: list[str] = cuda_compiler.compiler_requirements({}, environ, machine)
    return found


@pytest.mark.parametrize(
    ("mode", "gpu", "nvcc", "due"),
    [
        ("AUTO", False, False, False),
        ("AUTO", True, False, True),
        ("AUTO", True, True, False),
        ("ON", False, False, True),
        ("ON", False, True, False),
        ("OFF", True, False, False),
        ("off", True, False, False),
    ],
)
def test_compiler_is_required_where_due(machine: Path, mode: str, gpu: bool, nvcc: bool, due: bool) -> None:
    assert bool(requirements(machine, gpu, nvcc, MANYMOD_CUDA=mode)) is due


def test_gpu_of_wsl_counts(machine: Path) -> None:
    assert not cuda_compiler.has_nvidia_gpu(machine)
    (machine / "usr/lib/wsl/lib").mkdir(parents=True)
    (machine / "usr/lib/wsl/lib/libcuda.so.1").touch()
    assert cuda_compiler.has_nvidia_gpu(machine)


def test_nvcc_on_path_or_cuda_home(machine: Path) -> None:
    assert requirements(machine, gpu=True, nvcc=False)
    nvcc = machine / "toolkit/bin/nvcc"
    nvcc.parent.mkdir(parents=True)
    nvcc.touch(mode=0o755)
    assert not requirements(machine, gpu=True, nvcc=False, CUDA_HOME=str(machine / "toolkit"))
    assert not requirements(machine, gpu=True, nvcc=False, PATH=str(nvcc.parent))


@pytest.mark.parametrize(
    ("settings", "environ", "mode"),
    [
        ({"cmake.define.MANYMOD_CUDA": "ON"}, {"MANYMOD_CUDA": "OFF"}, "ON"),
        ({"cmake.args": "-DMANYMOD_CUDA=ON"}, {}, "ON"),
        ({"cmake.args": ["-DX=1", "-DMANYMOD_CUDA=OFF"]}, {}, "OFF"),
        ({}, {"CMAKE_ARGS": "-DMANYMOD_CUDA_ARCHITECTURES=80"}, "AUTO"),
        ({}, {"SKBUILD_CMAKE_DEFINE": "A=1;MANYMOD_CUDA=OFF"}, "OFF"),
    ],
)
def test_mode(settings: dict[str, list[str] | str], environ: dict[str, str], mode: str) -> None:
    assert cuda_compiler.cuda_mode(settings, environ) == mode


def test_backend_has_every_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    # Without its hook for metadata, pip would compile the package to learn its name.
    import scikit_build_core.build

    monkeypatch.syspath_prepend(ROOT / "tools/build_backend")
    backend = load("tools/build_backend/manymod_build.py")
    assert set(backend.__all__) >= set(scikit_build_core.build.__all__)  # older versions have fewer
    assert all(callable(getattr(backend, hook)) for hook in backend.__all__)


REPORT = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'good_1x8' for 'sm_90a'
ptxas info    : Function properties for good_1x8
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 82 registers, used 0 barriers
ptxas info    : Compile time = 90.681 ms
ptxas info    : Compiling entry function 'bad_1x16' for 'sm_90a'
ptxas info    : Function properties for bad_1x16
    24 bytes stack frame, 16 bytes spill stores, 32 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers
"""


def test_resources_of_a_report() -> None:
    good, bad = compile_device.resources(REPORT)
    assert good == {
        "kernel": "good_1x8", "arch": "90a", "stack": 0, "spill_stores": 0, "spill_loads": 0,
        "registers": 82, "seconds": pytest.approx(0.090681),
    }  # fmt: skip
    assert (bad["kernel"], bad["stack"], bad["spill_loads"]) == ("bad_1x16", 24, 32)


def test_spills_need_an_exception_that_is_large_enough_and_used() -> None:
    kernels = compile_device.resources(REPORT)
    breaches = check_device_resources.breaches
    assert len(breaches(kernels, {})) == 1
    assert breaches(kernels, {"bad_*": 24}) == []
    assert len(breaches(kernels, {"bad_*": 16})) == 1
    assert breaches(kernels, {"bad_1x16": 24, "good_1x8": 8}) == ["good_1x8: excepted, but nothing spills"]
    with pytest.raises(ValueError, match="no reason"):
        check_device_resources.exceptions("bad_1x16 24\n")


@pytest.mark.parametrize("bad", ["", "sm_90", "90b", "90+sass"])
def test_bad_architectures(bad: str) -> None:
    with pytest.raises(ValueError, match="not an architecture"):
        compile_device.code_options(bad)


def test_compiler_failure_is_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    nvcc = tmp_path / "nvcc"
    nvcc.write_text("#!/bin/sh\necho 'x.cu(1): error: no' >&2\nexit 3\n")
    nvcc.chmod(0o755)
    output = tmp_path / "x.fatbin"
    arguments = ["--nvcc", nvcc, "--architectures", "80", "--include", tmp_path, "--output", output]
    arguments += ["--depfile", tmp_path / "x.d", "--resources", tmp_path / "x.json", "x.cu"]
    monkeypatch.setattr(sys, "argv", ["compile_device.py", *map(str, arguments)])
    assert compile_device.main() == 3
    assert "error: no" in capfd.readouterr().err
    assert not (tmp_path / "x.json").exists()


class Nvcc:
    """A compiler that notes its calls, with a header of its own."""

    def __init__(self, folder: Path) -> None:
        self.calls = folder / "calls"
        self.calls.touch()
        self.path = self.install(folder / "toolkit")

    def install(self, toolkit: Path) -> Path:
        """Return the compiler's path in another folder."""
        (toolkit / "bin").mkdir(parents=True)
        (toolkit / "own.h").touch()
        self.path = toolkit / "bin/nvcc"
        self.path.write_text(
            "#!/bin/sh\n"
            "if [ $1 = --version ]; then echo release 13.0; exit; fi\n"
            f"echo call >> {self.calls}\n"
            "while [ $# -gt 1 ]; do case $1 in -o) out=$2;; -MF) dep=$2;; esac; shift; done\n"
            f'echo code > $out; echo "$out : $1 \\\\" > $dep; echo "  {toolkit}/own.h" >> $dep\n'
        )
        self.path.chmod(0o755)
        return self.path

    def count(self) -> int:
        return len(self.calls.read_text().splitlines())


def test_compiled_kernels_are_kept_while_their_sources_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvcc = Nvcc(tmp_path)
    source, output, depfile = tmp_path / "x.cu", tmp_path / "x.fatbin", tmp_path / "x.d"
    source.write_text("one")

    def compile_and_count(*, architectures: str = "80") -> int:
        before = nvcc.count()
        arguments = ["--nvcc", nvcc.path, "--architectures", architectures, "--include", tmp_path]
        arguments += ["--output", output, "--depfile", depfile, "--resources", tmp_path / "x.json", source]
        monkeypatch.setattr(sys, "argv", ["compile_device.py", *map(str, arguments)])
        assert compile_device.main() == 0
        assert str(source) in depfile.read_text()
        depfile.unlink()
        return nvcc.count() - before

    assert compile_and_count() == 1
    assert compile_and_count() == 0
    shutil.rmtree(tmp_path / "toolkit")
    nvcc.install(tmp_path / "another")
    assert compile_and_count() == 0
    source.write_text("two")
    assert compile_and_count() == 1
    assert compile_and_count(architectures="90a") == 1
    output.write_text("damaged")
    assert compile_and_count(architectures="90a") == 1
    (tmp_path / "x.sources.json").write_text("[")
    assert compile_and_count(architectures="90a") == 1
