# SPDX-License-Identifier: Apache-2.0
"""The package's build backend: scikit-build-core, which also gets the CUDA compiler where it is due."""

from __future__ import annotations

import scikit_build_core.build as backend
from cuda_compiler import compiler_requirements
from scikit_build_core.build import (
    build_editable,
    build_sdist,
    build_wheel,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

Settings = dict[str, list[str] | str]


def get_requires_for_build_wheel(config_settings: Settings | None = None) -> list[str]:
    """Return what a wheel's build needs beside pyproject.toml's requirements."""
    return [*backend.get_requires_for_build_wheel(config_settings), *compiler_requirements(config_settings)]


def get_requires_for_build_editable(config_settings: Settings | None = None) -> list[str]:
    """Return the same for an editable installation."""
    return [
        *backend.get_requires_for_build_editable(config_settings),
        *compiler_requirements(config_settings),
    ]
