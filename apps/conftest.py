# SPDX-License-Identifier: Apache-2.0
"""What the tests of the applications share."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Callable[..., str]]:
    """Run a command line in this process: what it prints, or the one line with which it ends."""

    def of(main: Callable[[list[str]], None]) -> Callable[..., str]:
        def run(*arguments: Any, lines: str = "") -> str:
            monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
            try:
                main(list(map(str, arguments)))
            except SystemExit as error:
                capsys.readouterr()
                return f"exit: {error.code}"
            return capsys.readouterr().out

        return run

    return of
