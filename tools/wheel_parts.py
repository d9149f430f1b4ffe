# SPDX-License-Identifier: Apache-2.0
"""What wheels are built with: a compiler for old versions of glibc, interpreters, and a static libcrypto."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

#: The long-term support release of OpenSSL whose libcrypto is linked into wheels. A release of manymod takes
#: its newest patch: neither pip nor the system's package manager updates this copy.
OPENSSL_VERSION = "3.5.7"
OPENSSL_SHA256 = "a8c0d28a529ca480f9f36cf5792e2cd21984552a3c8e4aa11a24aa31aeac98e8"
_RELEASES = "https://github.com/openssl/openssl/releases/download"
OPENSSL_URL = f"{_RELEASES}/openssl-{OPENSSL_VERSION}/openssl-{OPENSSL_VERSION}.tar.gz"
#: Where Debian's mirrors have the same file.
OPENSSL_IN_DEBIAN = f"pool/main/o/openssl/openssl_{OPENSSL_VERSION}.orig.tar.gz"
#: no-shared and no-module: a static library that loads no providers. no-autoload-config: the system's
#: openssl.cnf is for the system's OpenSSL; its modules may be of another version, or this library's own
#: provider. no-atexit: the library's threads may still compute while the process ends. The rest is what
#: manymod never calls; vulnerabilities in it do not concern wheels.
OPENSSL_OPTIONS = (
    "no-shared", "no-module", "no-autoload-config", "no-atexit", "no-apps", "no-docs", "no-tests",
    "no-legacy", "no-engine", "no-comp", "no-zlib", "no-afalgeng", "no-sock", "no-quic", "no-http",
    "no-cmp", "no-cms", "no-ct", "no-ocsp", "no-srp", "no-srtp", "no-ts", "no-ml-dsa", "no-ml-kem",
    "no-slh-dsa", "no-aria", "no-bf", "no-camellia", "no-cast", "no-gost", "no-idea", "no-md4", "no-mdc2",
    "no-rc2", "no-rc4", "no-rmd160", "no-seed", "no-whirlpool",
)  # fmt: skip

#: Wheels run where glibc has this version or a newer one.
GLIBC = "2.28"
#: The oldest Python whose stable ABI the extension can use; older ones get a wheel each.
STABLE_ABI = (3, 12)
OLDEST = (3, 10)

Version = tuple[int, int]


def run(
    *command: str | Path, where: Path | None = None, environment: Mapping[str, str] | None = None
) -> None:
    """Print and run a command. Raises CalledProcessError if it fails."""
    print("+", shlex.join(map(str, command)), flush=True)
    subprocess.run([str(part) for part in command], check=True, cwd=where, env=environment)


# ---- compilers --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Toolchain:
    """Compilers whose programs run with glibc 2.28, and auditwheel's name of that platform."""

    programs: Mapping[str, Path]  # "cc", "c++", "ar", "ranlib"
    tag: str
    cxx_flags: str = ""

    def cmake_defines(self) -> dict[str, str]:
        """Return the options that make CMake use them."""
        names = {"cc": "C_COMPILER", "c++": "CXX_COMPILER", "ar": "AR", "ranlib": "RANLIB"}
        defines = {f"CMAKE_{names[name]}": str(path) for name, path in self.programs.items()}
        return defines | {"CMAKE_CXX_FLAGS": self.cxx_flags}


def toolchain(folder: Path, zig: Sequence[str], environ: Mapping[str, str] = os.environ) -> Toolchain:
    """Return the compilers of a manylinux container, which has an old glibc itself; elsewhere Zig's.

    `zig` is the command that runs Zig. Its Clang compiles and links for a given version of glibc, with libc++
    linked statically. `folder` gets programs that call it.
    """
    container = environ.get("AUDITWHEEL_PLAT", "")
    if container.startswith("manylinux"):
        found = {name: shutil.which(name) for name in ("gcc", "g++", "ar", "ranlib")}
        names = dict(zip(found, ("cc", "c++", "ar", "ranlib"), strict=True))
        return Toolchain({names[name]: Path(path) for name, path in found.items() if path}, container)
    machine = platform.machine()
    folder.mkdir(parents=True, exist_ok=True)
    options = {name: f" -target {machine}-linux-gnu.{GLIBC}" if name.startswith("c") else "" for name in
               ("cc", "c++", "ar", "ranlib")}  # fmt: skip
    programs = {}
    for name, option in options.items():
        programs[name] = folder / name
        text = f'#!/bin/sh\nexec {shlex.join(zig)} {name}{option} "$@"\n'
        if not programs[name].exists() or programs[name].read_text(encoding="utf-8") != text:
            programs[name].write_text(text, encoding="utf-8")
            programs[name].chmod(0o755)
    # nanobind's headers use stderr without <cstdio>, which libstdc++ happens to include and libc++ does not.
    return Toolchain(programs, f"manylinux_{GLIBC.replace('.', '_')}_{machine}", "-include cstdio")


# ---- interpreters -----------------------------------------------------------------------------------------

#: Prints what matters of an interpreter; it fails without headers.
PROBE = """
import json, os, sys, sysconfig
os.stat(os.path.join(sysconfig.get_path("include"), "Python.h"))
free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
usable = sys.implementation.name == "cpython" and not free_threaded
print(json.dumps([usable, sys.version_info[:2], sys.executable]))
"""


def probe(interpreter: Path) -> tuple[Version, Path] | None:
    """Return the version and the real path of an interpreter; None if extensions cannot be built for it."""
    try:
        said = subprocess.run([interpreter, "-c", PROBE], capture_output=True, text=True, check=True).stdout
        usable, version, executable = json.loads(said)
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None
    return ((version[0], version[1]), Path(executable)) if usable else None


def candidates(environ: Mapping[str, str] = os.environ) -> Iterator[Path]:
    """Yield where interpreters may be: manylinux containers, PATH, pyenv."""
    yield from sorted(Path("/opt/python").glob("cp3*-cp3*/bin/python"))
    for folder in environ.get("PATH", "").split(os.pathsep):
        yield from sorted(
            path for path in Path(folder).glob("python3.*") if re.fullmatch(r"python3\.\d+", path.name)
        )
    pyenv = Path(environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(pyenv.glob("versions/3.*/bin/python3"))


def chosen(found: Mapping[Version, Path]) -> dict[Version, Path]:
    """Return one interpreter for each wheel: each one before the stable ABI, and the oldest that has it.

    >>> [version for version in chosen({(3, 13): Path("a"), (3, 12): Path("b"), (3, 10): Path("c")})]
    [(3, 10), (3, 12)]
    """
    own = {version: path for version, path in sorted(found.items()) if OLDEST <= version < STABLE_ABI}
    shared = sorted(version for version in found if version >= STABLE_ABI)
    return own | {version: found[version] for version in shared[:1]}


def interpreters(paths: Iterator[Path] | Sequence[Path]) -> dict[Version, Path]:
    """Return one interpreter of each supported version, the first of `paths` that has headers."""
    found: dict[Version, Path] = {}
    for path in paths:
        if (probed := probe(path)) is not None and probed[0] >= OLDEST:
            found.setdefault(*probed)
    return found


def missing(found: Mapping[Version, Path]) -> list[str]:
    """Return the versions of Python for which there will be no wheel.

    >>> missing({(3, 11): Path("a"), (3, 13): Path("b")})
    ['3.10']
    >>> missing({(3, 10): Path("a"), (3, 11): Path("b")})
    ['3.12 and newer']
    """
    lacking = [
        version
        for version in ((3, minor) for minor in range(OLDEST[1], STABLE_ABI[1]))
        if version not in found
    ]
    names = [f"{major}.{minor}" for major, minor in lacking]
    return names + ([] if any(version >= STABLE_ABI for version in found) else ["3.12 and newer"])


# ---- libcrypto --------------------------------------------------------------------------------------------


def debian_mirrors() -> list[str]:
    """Return the addresses of this machine's Debian mirrors; none where there is no apt."""
    if shutil.which("apt-get") is None:
        return []
    said = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Origin: Debian"],
        capture_output=True,
        text=True,
        check=False,
    )
    return list(dict.fromkeys(said.stdout.split()))


def openssl_source(folder: Path, given: Path | None) -> Path:
    """Return the archive of OpenSSL's source: the given one, or downloaded to `folder`.

    Raises:
        RuntimeError: It cannot be had, or is not the one that it should be.
    """
    archive = given or folder / f"openssl-{OPENSSL_VERSION}.tar.gz"
    addresses = [OPENSSL_URL] + [mirror + OPENSSL_IN_DEBIAN for mirror in debian_mirrors()]
    while not archive.exists() and addresses:
        address = addresses.pop(0)
        try:
            print("downloading", archive.name, flush=True)
            with urllib.request.urlopen(address, timeout=60) as answer:
                content = answer.read()
        except (urllib.error.URLError, TimeoutError) as error:
            print(f"{archive.name}: {error}", file=sys.stderr)
            continue
        archive.write_bytes(content)
    if not archive.exists():
        raise RuntimeError(f"OpenSSL's source cannot be downloaded; give it by --openssl {OPENSSL_URL}")
    if hashlib.sha256(archive.read_bytes()).hexdigest() != OPENSSL_SHA256:
        raise RuntimeError(f"{archive} is not the source of OpenSSL {OPENSSL_VERSION}: its digest differs")
    return archive


def build_libcrypto(folder: Path, tools: Toolchain, given: Path | None, jobs: int) -> Path:
    """Build libcrypto.a once; return the prefix that has it and its headers."""
    prefix = folder / f"openssl-{OPENSSL_VERSION}"
    recipe = json.dumps(
        [OPENSSL_SHA256, OPENSSL_OPTIONS, tools.tag, {k: str(v) for k, v in tools.programs.items()}]
    )
    stamp = prefix / "recipe.json"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == recipe:
        return prefix
    work = folder / "openssl-source"
    shutil.rmtree(work, ignore_errors=True)
    shutil.rmtree(prefix, ignore_errors=True)
    work.mkdir(parents=True)
    run("tar", "xf", openssl_source(folder, given), "--strip-components=1", "-C", work)
    compilers = [
        f"{name}={tools.programs[key]}" for name, key in (("CC", "cc"), ("AR", "ar"), ("RANLIB", "ranlib"))
    ]
    target = {"x86_64": "linux-x86_64", "aarch64": "linux-aarch64"}[platform.machine()]
    # No such folder: the library reads no configuration or certificates of the system.
    where = ["--prefix=/nonexistent/manymod", "--openssldir=/nonexistent/manymod"]
    run("./Configure", target, *OPENSSL_OPTIONS, *where, *compilers, where=work)
    run("make", "-s", f"-j{jobs}", "build_generated", where=work)
    run("make", "-s", f"-j{jobs}", "libcrypto.a", where=work)
    (prefix / "lib").mkdir(parents=True)
    shutil.copy(work / "libcrypto.a", prefix / "lib")
    shutil.copytree(work / "include/openssl", prefix / "include/openssl")
    stamp.write_text(recipe, encoding="utf-8")
    shutil.rmtree(work)
    return prefix
