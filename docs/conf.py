# SPDX-License-Identifier: Apache-2.0
"""The site's configuration for Sphinx: `make docs`.

The folder of sources is the repository, so that links among the pages mean the same here and on GitHub.
"""

from __future__ import annotations

import sys
from pathlib import Path

import manymod

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))

project = "manymod"
author = "the authors of manymod"
copyright = author  # noqa: A001
version = release = manymod.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "breathe",
    "sphinx_click",
    "sphinx_copybutton",
    "_extensions.headers",
    "_extensions.links",
]

root_doc = "docs/index"
include_patterns = [
    "*.md",
    "docs/**.md",
    "docs/reference/*.rst",
    "apps/**README.md",
    "bench/**README.md",
    "bench/results/*.md",
]
exclude_patterns = ["build*", ".venv", "docs/_extensions", "README.md"]
nitpicky = True
smartquotes = False  # it would make one dash of the two that begin an option
# Names whose reference is elsewhere (that of Python, of the standard libraries), and details in signatures.
nitpick_ignore_regex = [
    ("py:(class|exc)", r"(abc|collections\.abc|concurrent\.futures|enum)\..*"),
    ("c:identifier", r"u?int\d+_t|size_t"),
    (
        "cpp:identifier",
        r"(\w+::)*(detail|wrapper|special_primes|hex_curves|cuda|field|integers|jacobian|windows)(::.*)?",
    ),
    ("cpp:identifier", r"Words(Out)?|LaneMemory|Row32|Destroy|Element|(Field|Base)(::\w+)?"),
    ("std:ref", r"\w+_8h(pp)?"),
]
suppress_warnings = [
    "myst.header",  # reports that tools write begin below the first level
    "duplicate_declaration.cpp",  # a namespace of several headers
]

html_theme = "furo"
html_title = "manymod"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_root"]
html_copy_source = False
html_show_sphinx = False
html_theme_options: dict[str, list[str]] = {"top_of_page_buttons": []}

myst_heading_anchors = 6
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# The implementation's signature, not those of the overloads, which repeat the docstring's list of arguments.
autodoc_typehints = "none"
autodoc_mock_imports = ["ray"]  # manymod.ray is described without Ray
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
napoleon_numpy_docstring = False
napoleon_use_ivar = True
default_role = "py:obj"

breathe_projects = {"manymod": str(ROOT / "build/docs/doxygen/xml")}
breathe_default_project = "manymod"
breathe_show_include = False
breathe_domain_by_extension = {"h": "c", "hpp": "cpp", "cuh": "cpp"}
