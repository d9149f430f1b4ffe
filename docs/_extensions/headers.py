# SPDX-License-Identifier: Apache-2.0
"""Doxygen's reading of the public headers, from which Breathe makes the reference of C and C++.

Every public function must be documented there. Of the C interface, every parameter and every result has a
line of its own; of the others, a parameter may also be named in the text of its function or class, or have
the name of its type, and what has a line for one parameter has one for all.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
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
WARN_IF_INCOMPLETE_DOC = YES
WARN_AS_ERROR          = FAIL_ON_WARNINGS
"""


def run_doxygen(app: Sphinx) -> None:
    """Write the XML of all public headers to the folder that `breathe_projects` names.

    Raises:
        ExtensionError: Doxygen is missing, warns of a comment, or a function is not documented.
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
    pages = sorted(Path(app.config.breathe_projects["manymod"]).glob("*.xml"))
    for path in pages:
        remove_private(path)
    if lacking := sorted({line for path in pages for line in undocumented(ET.parse(path).getroot())}):
        raise ExtensionError("documentation of public functions:\n" + "\n".join(lacking))


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


def text_of(element: ET.Element) -> str:
    """Return the text of the descriptions of a function or class."""
    found = [child for child in element if child.tag in {"briefdescription", "detaileddescription"}]
    return " ".join("".join(child.itertext()) for child in found)


def undocumented(page: ET.Element) -> Iterator[str]:
    """What the public functions of a page of Doxygen's XML lack: place, function and what is missing."""
    for compound in page.iter("compounddef"):
        if "detail" in compound.findtext("compoundname", "").split("::"):
            continue
        functions = [one for one in compound.iter("memberdef") if one.get("kind") == "function"]
        for function in functions:
            name, place = function.findtext("name"), function.find("location")
            if place is None or function.findtext("argsstring", "").endswith(("=delete", "=default")):
                continue
            is_c = str(place.get("file")).endswith(".h")
            overloads = [one for one in functions if one.findtext("name") == name]
            own = text_of(function) if is_c else " ".join(map(text_of, overloads))
            for lack in lacks(function, is_c, own, text_of(compound)):
                yield f"{place.get('file')}:{place.get('line')}: {name}: {lack}"


def lacks(function: ET.Element, is_c: bool, own: str, text_of_class: str) -> Iterator[str]:
    """What the comment of a function, whose text is `own` with that of its overloads, lacks."""
    if not own.strip():
        yield "a description"
    listed = {name.text for name in function.iter("parametername")}
    for parameter in function.findall("param"):
        name = parameter.findtext("declname")
        kind = "".join(text for part in parameter.findall("type") for text in part.itertext())
        explained = not is_c and re.search(rf"(?i)\b{name}\b", f"{own} {text_of_class} {kind}")
        if name and name not in listed and not explained:
            yield f"parameter {name}"
    results = [section for section in function.iter("simplesect") if section.get("kind") == "return"]
    if is_c and function.findtext("type") != "void" and not results:
        yield "its result (@return)"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", run_doxygen)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
