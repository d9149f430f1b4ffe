#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compile the project with every supported compiler on PATH, warnings as errors, and print a table.

By default each compiler configures and builds the library, the Python extension, the tests, the benchmarks
and the examples in build/compilers/NAME, and the tests of constant-time code run on what it made of it, since
compilers differ in what they turn into branches. It also builds the library alone without libcrypto, as on
machines that lack OpenSSL's headers. With --syntax-only it parses the sources and generates no
code. The syntax pass includes all headers of the standard library before each source: which headers include
which differs between versions of a standard library, so that an unqualified call such as `quoted(text)` with
a std::string finds std::quoted with one version and not with another. With all headers included, every
version finds it.

The exit status is 1 if a compiler reported an error, or if none was found.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Lowest major version of each family that the project supports.
LOWEST = {"g++": 12, "clang++": 16}
#: What can be compiled, and the CMake option that adds it to the build. The library is always part of it.
PARTS = {
    "library": "",
    "extension": "MANYMOD_BUILD_PYTHON",
    "tests": "MANYMOD_BUILD_TESTS",
    "benchmarks": "MANYMOD_BUILD_BENCH",
    "examples": "MANYMOD_BUILD_EXAMPLES",
}
#: Sources of the library that the syntax pass puts into one translation unit, which halves its time.
UNITY_BATCH = 12
#: Headers of the C++20 and C++23 standard libraries that declare functions.
STANDARD_HEADERS = (
    "algorithm any array atomic barrier bit bitset cctype charconv chrono cmath complex "
    "condition_variable cstddef cstdio cstdlib cstring deque exception expected filesystem format "
    "forward_list fstream functional future generator initializer_list iomanip ios iostream istream "
    "iterator latch limits list map memory memory_resource mutex numbers numeric optional ostream "
    "print queue random ranges ratio regex scoped_allocator semaphore set shared_mutex "
    "source_location span sstream stack stdexcept stop_token streambuf string string_view "
    "system_error thread tuple type_traits typeindex unordered_map unordered_set utility valarray "
    "variant vector version "
)


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler and the C compiler that belongs to it."""

    family: str
    version: int
    cxx: Path

    @property
    def name(self) -> str:
        """Such as g++-12."""
        return f"{self.family}-{self.version}"

    @property
    def c(self) -> Path:
        """The C compiler: /usr/bin/clang-19 for /usr/bin/clang++-19."""
        return self.cxx.with_name(self.cxx.name.replace("clang++", "clang").replace("g++", "gcc"))


@dataclass(frozen=True)
class Outcome:
    """What became of one build."""

    name: str
    sources: int
    seconds: float
    error: str


def identify(path: Path) -> Compiler | None:
    """Return the compiler at `path`, or None if it does not run or is of another family."""
    command = [str(path), "-dM", "-E", "-x", "c++", "/dev/null"]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    macros = dict(re.findall(r"^#define (__\w+__) (\d+)$", finished.stdout, re.MULTILINE))
    for family, macro in (("clang++", "__clang_major__"), ("g++", "__GNUC__")):
        if macro in macros:
            return Compiler(family, int(macros[macro]), path)
    return None


def find_compilers(search_path: str) -> list[Compiler]:
    """Return the supported compilers in the folders of `search_path`, one of each family and version."""
    pattern = re.compile(r"(clang\+\+|g\+\+)(-\d+)?")
    found: dict[str, Compiler] = {}
    for folder in map(Path, search_path.split(os.pathsep)):
        # Versioned names sort after plain ones and belong to a C compiler of the same version.
        for path in sorted(folder.glob("*g++*"), reverse=True):
            if not pattern.fullmatch(path.name) or not os.access(path, os.X_OK):
                continue
            compiler = identify(path)
            if compiler and compiler.version >= LOWEST[compiler.family]:
                found.setdefault(compiler.name, compiler)
    return sorted(found.values(), key=lambda compiler: (compiler.family, compiler.version))


def configure(
    compiler: Compiler, folder: Path, parts: Sequence[str], *, syntax_only: bool = False, rsa: str = "AUTO"
) -> str:
    """Configure a build folder. Returns CMake's error messages, "" if there are none."""
    definitions = {
        "CMAKE_CXX_COMPILER": compiler.cxx,
        "CMAKE_C_COMPILER": compiler.c,
        "CMAKE_BUILD_TYPE": "Release",
        "MANYMOD_WERROR": "ON",
        "MANYMOD_CUDA": "OFF",
        "MANYMOD_RSA": rsa,
        "Python_EXECUTABLE": sys.executable,
    }
    for part, option in PARTS.items():
        if option:
            definitions[option] = "ON" if part in parts else "OFF"
    if "extension" in parts:
        command = [sys.executable, "-m", "nanobind", "--cmake_dir"]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        definitions["nanobind_DIR"] = found.stdout.strip()
    if syntax_only:
        definitions |= {"CMAKE_DISABLE_PRECOMPILE_HEADERS": "ON", "MANYMOD_UNITY_BATCH": str(UNITY_BATCH)}
    options = [f"-D{name}={value}" for name, value in definitions.items()]
    return output_of_failure(["cmake", "-S", ROOT, "-B", folder, *options])


def output_of_failure(command: Sequence[str | Path], folder: Path = ROOT) -> str:
    """Run `command` in `folder`. Returns what it printed if it failed, else ""."""
    finished = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    return (finished.stdout + finished.stderr or "failed") if finished.returncode else ""


def write_all_headers(path: Path) -> None:
    """Write the header that includes the standard library."""
    lines = (f"#if __has_include(<{name}>)\n#include <{name}>\n#endif\n" for name in STANDARD_HEADERS.split())
    path.write_text("".join(lines), encoding="utf-8")


def compiler_and_options(entry: dict[str, str]) -> list[str]:
    """Return the command of a compilation database's `entry` without its source and what it writes.

    >>> compiler_and_options({"command": "ccache g++ -DX -o a.o -c a.cpp", "file": "a.cpp"})
    ['g++', '-DX']
    """
    arguments = iter(shlex.split(entry["command"]))
    kept: list[str] = []
    for argument in arguments:
        if argument in {"-o", "-MF", "-MT"}:
            next(arguments)
        elif argument not in {"-c", "-MD", entry["file"]} and not argument.endswith("ccache"):
            kept.append(argument)
    return kept


def is_c(entry: dict[str, str]) -> bool:
    """Return whether an entry compiles C, which does not include the headers of C++."""
    return entry["file"].endswith(".c")


def syntax_command(entry: dict[str, str], headers: Path) -> list[str]:
    """Return the command of a compilation database's `entry`, changed to check the syntax alone.

    >>> entry = {"command": "ccache g++ -DX -o a.o -c a.cpp", "file": "a.cpp"}
    >>> " ".join(syntax_command(entry, Path("all.hpp")))
    'g++ -DX a.cpp -fsyntax-only -include all.hpp'
    """
    command = [*compiler_and_options(entry), entry["file"], "-fsyntax-only"]
    return command if is_c(entry) else [*command, "-include", str(headers)]


def own_entries(folder: Path) -> Iterator[dict[str, str]]:
    """Yield the entries of a build folder's compilation database for sources of this project.

    Those that only a build generates are left out.
    """
    for entry in json.loads((folder / "compile_commands.json").read_text(encoding="utf-8")):
        path = Path(entry["file"])
        if (
            path.suffix in {".c", ".cpp", ".cxx"}
            and "_deps" not in path.parts
            and path.is_relative_to(ROOT)
            and path.exists()
        ):
            yield entry


def members(unity_source: Path) -> list[Path]:
    """Return the sources that a unity source of CMake includes."""
    return [
        Path(name) for name in re.findall(r'^#include "(.*)"$', unity_source.read_text("utf-8"), re.MULTILINE)
    ]


def check_entry(entry: dict[str, str], headers: Path) -> str:
    """Check one translation unit. Returns the errors.

    Sources of a unity source that fails are checked one by one, since two of them may define the same name
    in unnamed namespaces, which is no error.
    """
    folder, source = Path(entry["directory"]), entry["file"]
    command = syntax_command(entry, headers)
    error = output_of_failure(command, folder)
    if not error or "Unity" not in Path(source).parts:
        return error
    single = (
        [str(member) if part == source else part for part in command] for member in members(Path(source))
    )
    return "\n".join(filter(None, (output_of_failure(one, folder) for one in single)))


def precompile_headers(entry: dict[str, str], headers: Path) -> str:
    """Write the header of the standard library and compile it with an entry's options. Returns the errors.

    GCC and Clang then read `headers`.gch instead, and so parse the header once for all sources with these
    options.
    """
    headers.parent.mkdir(exist_ok=True)
    write_all_headers(headers)
    command = [*compiler_and_options(entry), "-x", "c++-header", str(headers), "-o", f"{headers}.gch"]
    return output_of_failure(command, Path(entry["directory"]))


def check_syntax(folder: Path, jobs: int) -> tuple[int, str]:
    """Check the sources of a configured build folder. Returns their number and the errors."""
    entries = list(own_entries(folder))
    options = [shlex.join(compiler_and_options(entry)) for entry in entries]
    headers = {
        one: folder / f"headers-{index}" / "all.hpp" for index, one in enumerate(dict.fromkeys(options))
    }
    of_cpp = {one: entry for one, entry in zip(options, entries, strict=True) if not is_c(entry)}
    with ThreadPoolExecutor(jobs) as pool:
        errors = list(pool.map(precompile_headers, of_cpp.values(), [headers[one] for one in of_cpp]))
        errors += pool.map(check_entry, entries, [headers[one] for one in options])
    return len(entries), "\n".join(filter(None, errors))


def run_constant_time_tests(folder: Path, jobs: int) -> str:
    """Run the tests of constant-time code of a build folder. Returns what they print if one fails."""
    command = [
        "ctest",
        "--test-dir",
        str(folder),
        "--output-on-failure",
        "-L",
        "constant_time",
        "-j",
        str(jobs),
    ]
    return output_of_failure(command)


def try_compiler(compiler: Compiler, arguments: argparse.Namespace) -> Outcome:
    """Configure and compile with one compiler, and leave its errors in NAME.log."""
    start = time.monotonic()
    folder = arguments.folder / (compiler.name + ("-syntax" if arguments.syntax_only else ""))
    sources = 0
    error = configure(compiler, folder, arguments.parts, syntax_only=arguments.syntax_only)
    if not error:
        if arguments.syntax_only:
            sources, error = check_syntax(folder, arguments.jobs)
        else:
            sources = len(list(own_entries(folder)))
            error = output_of_failure(["cmake", "--build", folder, "--parallel", str(arguments.jobs)])
            if not error and "tests" in arguments.parts:
                error = run_constant_time_tests(folder, arguments.jobs)
    folder.with_suffix(".log").write_text(error, encoding="utf-8")
    return Outcome(compiler.name, sources, time.monotonic() - start, error)


def try_without_libcrypto(compiler: Compiler, arguments: argparse.Namespace) -> Outcome:
    """Build the library alone without libcrypto, and leave the errors in NAME-bare.log."""
    start = time.monotonic()
    name = f"{compiler.name}-bare"
    folder = arguments.folder / name
    sources = 0
    error = configure(compiler, folder, ["library"], rsa="OFF")
    if not error:
        sources = len(list(own_entries(folder)))
        error = output_of_failure(
            ["cmake", "--build", folder, "--target", "manymod", "--parallel", str(arguments.jobs)]
        )
    folder.with_suffix(".log").write_text(error, encoding="utf-8")
    return Outcome(name, sources, time.monotonic() - start, error)


def first_error(text: str) -> str:
    r"""Return the first line that states an error, else the first line.

    >>> first_error("building error.cpp.o\na.cpp:1: error: x\na.cpp:2: error: y")
    'a.cpp:1: error: x'
    """
    lines = text.strip().splitlines()
    return next((line for line in lines if re.search(r"\berror\b(?!\.)", line, re.IGNORECASE)), lines[0])


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--syntax-only", action="store_true", help="parse the sources, generate no code")
    parser.add_argument("--parts", default=",".join(PARTS), help="some of these (default: all): %(default)s")
    parser.add_argument("--compiler", action="append", metavar="CXX", help="try this one (repeatable)")
    parser.add_argument("--newest-clang", action="store_true", help="try only the newest Clang found")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="default: %(default)s")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/compilers", help="default: %(default)s")
    arguments = parser.parse_args()
    arguments.parts = arguments.parts.split(",")
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}")
    return arguments


def main() -> int:
    """Try the compilers and print the table."""
    arguments = parse_arguments()
    if arguments.compiler:
        identified = [(name, identify(Path(name).absolute())) for name in arguments.compiler]
        if broken := [name for name, compiler in identified if compiler is None]:
            sys.exit(f"not a GCC or Clang: {', '.join(broken)}")
        compilers = [compiler for _, compiler in identified if compiler]
    else:
        compilers = find_compilers(os.environ.get("PATH", ""))
    if arguments.newest_clang:
        compilers = [compiler for compiler in compilers if compiler.family == "clang++"][-1:]
        if not compilers:
            print("skipped: no Clang on PATH")
            return 0
    arguments.folder.mkdir(parents=True, exist_ok=True)
    failed = not compilers
    builds = [try_compiler] if arguments.syntax_only else [try_compiler, try_without_libcrypto]
    print(f"{'compiler':<15} {'files':>5} {'seconds':>8}  result", flush=True)
    for compiler, build in itertools.product(compilers, builds):
        outcome = build(compiler, arguments)
        result = first_error(outcome.error) if outcome.error else "ok"
        print(f"{outcome.name:<15} {outcome.sources:>5} {outcome.seconds:>8.1f}  {result}", flush=True)
        failed |= bool(outcome.error)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
