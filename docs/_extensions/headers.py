# SPDX-License-Identifier: Apache-2.0
"""Doxygen's reading of the public headers, from which Breathe makes the reference of C and C++."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = """
PROJECT_NAME           = manymod
INPUT                  = include/manymod
FILE_PATTERNS          = *.h *.hpp *.cuh
RECURSIVE              = YES
EXTENSION_MAPPING      = cuh=C++
FULL_PATH_NAMES        = YES
STRIP_FROM_PATH        = include
GENERATE_HTML          = NO
GENERATE_LATEX         = NO
GENERATE_XML           = YES
XML_PROGRAMLISTING     = NO
JAVADOC_AUTOBRIEF      = NO
MARKDOWN_SUPPORT       = YES
AUTOLINK_SUPPORT       = NO
EXTRACT_ALL            = YES
EXCLUDE_SYMBOLS        = *::detail *::Destroy
MACRO_EXPANSION        = YES
EXPAND_ONLY_PREDEF     = YES
PREDEFINED             = MM_API= MM_DEVICE= MM_HOST_DEVICE=
TYPEDEF_HIDES_STRUCT   = YES
INPUT_FILTER           = "sed -e '/namespace wrapper/d'"
SORT_MEMBER_DOCS       = NO
QUIET                  = YES
WARNINGS               = YES
WARN_IF_UNDOCUMENTED   = NO
WARN_IF_INCOMPLETE_DOC = NO
WARN_AS_ERROR          = FAIL_ON_WARNINGS
"""


def run_doxygen(app: Sphinx) -> None:
    """Write the XML of all public headers to the folder that `breathe_projects` names.

    Raises:
        ExtensionError: Doxygen is missing, or warns of a comment.
    """
    doxygen = shutil.which("doxygen")
    if doxygen is None:
        raise ExtensionError("the reference of C and C++ needs Doxygen: apt install doxygen")
    folder = Path(app.config.breathe_projects["manymod"]).parent
    folder.mkdir(parents=True, exist_ok=True)
    text = f"{CONFIGURATION}OUTPUT_DIRECTORY = {folder}\n"
    run = subprocess.run([doxygen, "-"], cwd=ROOT, input=text, text=True, capture_output=True, check=False)
    if run.returncode:
        raise ExtensionError(f"doxygen:\n{run.stderr}")
    for path in Path(app.config.breathe_projects["manymod"]).glob("*.xml"):
        remove_private(path)


def remove_private(path: Path) -> None:
    """Remove private members from a file of Doxygen, which writes them whatever it is told."""
    tree = ET.parse(path)
    removed = 0
    for parent in list(tree.iter()):
        for child in list(parent):
            if child.get("kind", "").startswith("private-") or child.get("prot") == "private":
                parent.remove(child)
                removed += 1
    if removed:
        tree.write(path, encoding="utf-8", xml_declaration=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", run_doxygen)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
