# SPDX-License-Identifier: Apache-2.0
"""Run a harness in Python: ``python -m tests.fuzz.run NAME [--seconds N] [--seed S] [--inputs N] [FILE...]``.

Without FILE it runs the seeds, then mutations of them. Where an input fails, it is left in the file
``failed-NAME`` of the working folder, and the same command with that file repeats it.

With ``--atheris`` libFuzzer chooses the inputs by what they reach; the other arguments are then libFuzzer's.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.fuzz.choices import mutated

HARNESSES = ("operands", "parts", "rsa", "tables")
FOLDER = Path(__file__).resolve().parent
LONGEST = 4096
RANDOM_BYTES = 256
#: An input that takes longer than so many seconds hangs: the process ends by SIGALRM, with the input kept.
SECONDS_OF_AN_INPUT = 60

Check = Callable[[bytes], None]


def load(name: str) -> tuple[Check, list[bytes]]:
    """Return a harness and its seeds."""
    module = importlib.import_module(f"tests.fuzz.{name}_fuzz")
    seeds = [b"", random.Random(0).randbytes(RANDOM_BYTES), *getattr(module, "seeds", list)()]
    return module.check, seeds


def inputs(seeds: list[bytes], seed: int) -> Iterator[bytes]:
    """Yield the seeds, then mutations of them and random bytes without end."""
    yield from seeds
    source = random.Random(seed)
    while True:
        if source.randrange(3) == 0:
            yield source.randbytes(source.randrange(RANDOM_BYTES))
        else:
            yield mutated(source.choice(seeds), seeds, source, LONGEST)


def replay(name: str, arguments: argparse.Namespace) -> int:
    """Run a harness for some time. Returns the exit status."""
    check, seeds = load(name)
    given = [path.read_bytes() for path in arguments.files]  # read before one of them is written over
    kept = Path(f"failed-{name}")
    end = time.monotonic() + arguments.seconds
    count = 0
    with open(kept, "wb", buffering=0) as file:
        for data in given or inputs(seeds, arguments.seed):
            if not given and count >= len(seeds) and (time.monotonic() >= end or count == arguments.inputs):
                break
            # Kept before it runs, as the process may not survive it.
            os.pwrite(file.fileno(), data, 0)
            os.ftruncate(file.fileno(), len(data))
            signal.alarm(SECONDS_OF_AN_INPUT)
            try:
                check(data)
            except BaseException:
                print(
                    f"{name}: input {count} of seed {arguments.seed} fails; it is in {kept.resolve()}:",
                    data.hex(),
                )
                raise
            count += 1
    signal.alarm(0)
    kept.unlink()
    print(f"{name}: {count} inputs, seed {arguments.seed}")
    return 0


def with_atheris(name: str, arguments: list[str]) -> None:
    """Run a harness by libFuzzer, with the package's modules instrumented."""
    import atheris

    with atheris.instrument_imports(include=["manymod"]):
        check, seeds = load(name)
    corpus = next((Path(word) for word in arguments if not word.startswith("-")), None)
    if corpus is not None:
        corpus.mkdir(parents=True, exist_ok=True)
        for index, data in enumerate(seeds):
            (corpus / f"seed-{index}").write_bytes(data)
    atheris.Setup([name, *arguments], check)
    atheris.Fuzz()


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description="Run a fuzzing harness in Python.")
    parser.add_argument("name", choices=HARNESSES)
    parser.add_argument("--atheris", action="store_true", help="by libFuzzer; further arguments are its own")
    parser.add_argument("--seconds", type=float, default=10, help="default: %(default)s")
    parser.add_argument("--inputs", type=int, default=-1, help="at most so many; default: no bound")
    parser.add_argument("--seed", type=int, default=1, help="of the mutations, default: %(default)s")
    arguments, rest = parser.parse_known_args()
    if arguments.atheris:
        with_atheris(arguments.name, rest)
        return 0
    arguments.files = [Path(word) for word in rest]
    return replay(arguments.name, arguments)


if __name__ == "__main__":
    sys.exit(main())
