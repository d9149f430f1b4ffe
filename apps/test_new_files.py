# SPDX-License-Identifier: Apache-2.0
"""Files that are all written, or none of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from new_files import write_new_files


@pytest.mark.parametrize("failure", [OSError, KeyboardInterrupt])
def test_no_file_is_left_where_another_is_not_written(
    failure: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    created = os.open

    def fails_for_second(path: Path, *arguments: Any) -> int:
        if path.name == "second":
            raise failure
        return created(path, *arguments)

    monkeypatch.setattr(os, "open", fails_for_second)
    with pytest.raises(failure):
        write_new_files((tmp_path / "first", b"1", 0o600), (tmp_path / "second", b"2", 0o600))
    assert not list(tmp_path.iterdir())
