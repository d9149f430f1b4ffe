#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Build the source distribution, and from it wheels that people can install.

One wheel serves Python 3.12 and all later versions by the stable ABI, older ones get one each, as far as the
machine has interpreters with headers. All wheels share one build folder, so that the library and its kernels
are compiled once. In a container of manylinux its compilers are used, elsewhere Zig's, which compile for
glibc 2.28; auditwheel checks what came out, and a wheel that is too large or that needs other libraries than
the platform's is an error.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from requirements import requirements, string_list
from wheel_parts import (
    STABLE_ABI,
    Toolchain,
    Version,
    build_libcrypto,
    candidates,
    chosen,
    interpreters,
    missing,
    run,
    toolchain,
)

ROOT = Path(__file__).resolve().parent.parent
MEGABYTE = 10**6
#: PyPI's limit for a project is 100 MB a file; smaller ones are installed sooner.
LARGEST = 60 * MEGABYTE

#: Calls one hook of the package's build backend: HOOK, the folder for the result and the settings as JSON.
CALL_BACKEND = """
import json, sys
sys.path.insert(0, "tools/build_backend")
import manymod_build
print(getattr(manymod_build, sys.argv[1])(sys.argv[2], json.loads(sys.argv[3])))
"""


class Builder:
    """One run: where things are, and what is built."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.folder: Path = arguments.folder.resolve()
        self.output: Path = arguments.output.resolve()
        self.arguments = arguments
        self.source = self.folder / "source"
        self.tools = self.folder / "tools"

    def prepare_tools(self, interpreter: Path) -> None:
        """Install the build backend, auditwheel, Zig and, if it is due, the CUDA compiler.

        All interpreters use the backend of this environment: it is that of the oldest one.
        """
        text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
        needed = [*string_list(text, "build-system", "requires")]
        needed += string_list(text, "project.optional-dependencies", "wheels")
        if self.arguments.cuda == "ON":
            needed += requirements("cuda", text)
        stamp = self.tools / "requirements.json"
        # An environment of a newer interpreter lacks packages that this one needs, such as tomli.
        contents = {"python": str(interpreter), "needed": needed}
        if stamp.exists() and json.loads(stamp.read_text(encoding="utf-8")) == contents:
            return
        run(interpreter, "-m", "venv", "--clear", self.tools)
        run(self.tools / "bin/python", "-m", "pip", "--disable-pip-version-check", "-q", "install", *needed)
        stamp.write_text(json.dumps(contents), encoding="utf-8")

    def backend(
        self, interpreter: Path, hook: str, where: Path, into: Path, settings: dict[str, str]
    ) -> Path:
        """Call a hook of the build backend in the source folder `where`; return the file that it made."""
        into.mkdir(parents=True, exist_ok=True)
        libraries = next(self.tools.glob("lib/python3*/site-packages"))
        environment = os.environ | {
            "PYTHONPATH": str(libraries),
            "PATH": f"{self.tools / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "CMAKE_BUILD_PARALLEL_LEVEL": str(self.arguments.jobs),
            "CMAKE_GENERATOR": "Ninja",
        }
        command = [interpreter, "-c", CALL_BACKEND, hook, into, json.dumps(settings)]
        print("+", hook, shlex.join(f"{key}={value}" for key, value in settings.items()), flush=True)
        with subprocess.Popen(
            [str(part) for part in command], cwd=where, env=environment, text=True, stdout=subprocess.PIPE
        ) as process:
            last = ""
            for line in process.stdout or ():
                print(line, end="", flush=True)
                last = line.strip() or last
        if process.returncode != 0:
            raise subprocess.CalledProcessError(process.returncode, hook)
        return into / last

    def unpack(self, archive: Path) -> None:
        """Make the source folder as the archive. Equal files stay: a second run compiles what changed."""
        kept: set[Path] = set()
        with tarfile.open(archive) as source:
            for member in source:
                content = source.extractfile(member) if member.isfile() else None
                if content is None:
                    continue
                path = self.source / Path(*Path(member.name).parts[1:])
                data = content.read()
                if not path.is_file() or path.read_bytes() != data:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(data)
                    path.chmod(member.mode)
                kept.add(path)
        for path in list(self.source.rglob("*")):
            if path.is_file() and path not in kept:
                path.unlink()

    def settings(self, version: Version, compilers: Toolchain, libcrypto: Path) -> dict[str, str]:
        """Return the backend's settings for a wheel."""
        defines = compilers.cmake_defines() | {
            "MANYMOD_CUDA": self.arguments.cuda,
            "MANYMOD_CUDA_ARCHITECTURES": self.arguments.architectures,
            "MANYMOD_COMPARISON_KERNELS": self.arguments.comparison_kernels,
            "MANYMOD_RSA": "ON",
            "OPENSSL_ROOT_DIR": str(libcrypto),
            "OPENSSL_USE_STATIC_LIBS": "ON",
            "OPENSSL_INCLUDE_DIR": str(libcrypto / "include"),
            "OPENSSL_CRYPTO_LIBRARY": str(libcrypto / "lib/libcrypto.a"),
        }
        settings = {f"cmake.define.{name}": value for name, value in defines.items()}
        settings["build-dir"] = str(self.folder / "cmake")
        settings["wheel.py-api"] = f"cp{STABLE_ABI[0]}{STABLE_ABI[1]}" if version >= STABLE_ABI else ""
        return settings

    def repair(self, wheel: Path, tag: str) -> Path:
        """Check the wheel against a platform's policy; return the one that has its name."""
        into = self.folder / "repaired"
        shutil.rmtree(into, ignore_errors=True)
        environment = os.environ | {"PATH": f"{self.tools / 'bin'}{os.pathsep}{os.environ['PATH']}"}
        run(
            self.tools / "bin/auditwheel",
            "repair",
            "--only-plat",
            "--plat",
            tag,
            "-w",
            into,
            wheel,
            environment=environment,
        )
        (made,) = into.glob("*.whl")
        return made

    def check(self, wheel: Path) -> None:
        """Check size and content. Raises RuntimeError."""
        size = wheel.stat().st_size
        if size > LARGEST:
            raise RuntimeError(
                f"{wheel.name} has {size / MEGABYTE:.1f} MB, more than {LARGEST / MEGABYTE:.0f}"
            )
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
        libraries = [name for name in names if re.search(r"\.so(\.|$)", name)]
        if len(libraries) != 1:
            raise RuntimeError(f"{wheel.name} has other libraries than the extension: {libraries}")
        if "abi3" in wheel.name:
            run(self.tools / "bin/abi3audit", "--strict", "--assume-minimum-abi3", "3.12", wheel)

    def build(self) -> list[Path]:
        """Build everything; return the files."""
        found = interpreters([*self.arguments.python] or candidates())
        if not chosen(found):
            raise RuntimeError("there is no CPython 3.10 or newer with headers")
        lowest = found[min(found)]
        self.prepare_tools(lowest)
        sdist = self.backend(lowest, "build_sdist", ROOT, self.output, {})
        self.unpack(sdist)
        zig = [str(self.tools / "bin/python"), "-m", "ziglang"]
        compilers = toolchain(self.folder / "toolchain", zig)
        libcrypto = build_libcrypto(self.folder, compilers, self.arguments.openssl, self.arguments.jobs)
        made = [sdist]
        for version, interpreter in chosen(found).items():
            settings = self.settings(version, compilers, libcrypto)
            raw = self.backend(interpreter, "build_wheel", self.source, self.folder / "raw", settings)
            wheel = self.repair(raw, compilers.tag)
            self.check(wheel)
            made.append(Path(shutil.move(wheel, self.output / wheel.name)))
        for lacking in missing(found):
            print(
                f"no wheel for Python {lacking}: no such interpreter with headers was found", file=sys.stderr
            )
        return made


def parse_arguments() -> argparse.Namespace:
    """Return the command line's arguments."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="default: %(default)s")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/wheels", help="default: %(default)s")
    parser.add_argument(
        "--python", type=Path, action="append", default=[], help="an interpreter; may be repeated"
    )
    parser.add_argument(
        "--cuda", choices=["ON", "OFF"], default="ON", help="the GPU part (default: %(default)s)"
    )
    parser.add_argument(
        "--architectures", default="all", help="such as '80;90a' (default: those of releases)"
    )
    parser.add_argument(
        "--comparison-kernels", choices=["ON", "OFF"], default="OFF", help="default: %(default)s"
    )
    parser.add_argument(
        "--openssl", type=Path, help="the archive of OpenSSL's source, instead of downloading it"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="default: %(default)s")
    return parser.parse_args()


def main() -> int:
    """Build; return 1 if anything fails."""
    try:
        made = Builder(parse_arguments()).build()
    except (subprocess.CalledProcessError, OSError, RuntimeError) as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    for path in made:
        print(f"{path.stat().st_size / MEGABYTE:6.1f} MB  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
