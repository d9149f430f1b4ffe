# SPDX-License-Identifier: Apache-2.0
"""Write all pictures to docs/images."""

from __future__ import annotations

from pathlib import Path

from figures.layouts import LAYOUTS
from figures.paths import PATHS
from figures.residues import RESIDUES
from figures.rooflines import ROOFLINES

__all__ = ["PICTURES"]

PICTURES = {**LAYOUTS, **RESIDUES, **PATHS, **ROOFLINES}

if __name__ == "__main__":
    folder = Path(__file__).resolve().parents[2] / "docs" / "images"
    for name, draw in PICTURES.items():
        (folder / f"{name}.svg").write_text(draw().text(), encoding="utf-8")
