# SPDX-License-Identifier: Apache-2.0
"""A picture as SVG, on a card of its own, so that it can be read on light and on dark pages."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

__all__ = ["Picture"]

#: class: fill and outline, on light and on dark pages
COLOURS = {
    "blue": ("#cfe3ff", "#3b74c4", "#1f3f6b", "#7fb2ff"),
    "orange": ("#ffe2bf", "#b8741a", "#5c3d12", "#f0b060"),
    "green": ("#d3efcd", "#3d8b37", "#1f4a1c", "#7bc976"),
    "purple": ("#ead6f7", "#8250ad", "#472a60", "#c79bea"),
    "grey": ("#eef1f4", "#8c959f", "#2d333b", "#768390"),
}
LIGHT = {"card": "#ffffff", "edge": "#d0d7de", "ink": "#1f2328", "dim": "#59636e"}
DARK = {"card": "#1c2128", "edge": "#444c56", "ink": "#e6edf3", "dim": "#a5b0bc"}


def _rules(dark: bool) -> str:
    shades = DARK if dark else LIGHT
    rules = [
        f".card{{fill:{shades['card']};stroke:{shades['edge']}}}",
        f"text{{fill:{shades['ink']}}}",
        f".dim{{fill:{shades['dim']}}}",
        f".line{{fill:none;stroke:{shades['dim']}}}",
        f".tip{{fill:{shades['dim']}}}",
        f".grid{{fill:none;stroke:{shades['edge']}}}",
        f".frame{{fill:none;stroke:{shades['ink']}}}",
    ]
    for name, colours in COLOURS.items():
        fill, outline = colours[2:] if dark else colours[:2]
        rules += [
            f".{name}{{fill:{fill};stroke:{outline}}}",
            f".{name}-line{{fill:none;stroke:{outline};stroke-width:2}}",
        ]
        rules.append(f".{name}-dot{{fill:{outline}}}")
    return "".join(rules)


class Picture:
    """A picture of a width and a height in pixels, made of boxes, words and lines.

    Args:
        width: of the whole card.
        height: of the whole card.
        title: what screen readers say.
    """

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width = width
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img" aria-label="{escape(title, quote=True)}">',
            "<style>text{font:14px system-ui,-apple-system,'Segoe UI',sans-serif}.small{font-size:12px}"
            f".bold{{font-weight:600}}.line{{stroke-width:1.5}}.frame{{stroke-width:2.5}}{_rules(dark=False)}"
            f"@media (prefers-color-scheme:dark){{{_rules(dark=True)}}}</style>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            'orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>',
            f'<rect class="card" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>',
        ]

    def box(
        self, x: float, y: float, width: float, height: float, kind: str, words: str = "", style: str = ""
    ) -> None:
        """A box with words in its middle."""
        self.parts.append(
            f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="2"/>'
        )
        if words:
            self.words(x + width / 2, y + height / 2 + 5, words, "middle", style)

    def words(self, x: float, y: float, words: str, anchor: str = "start", style: str = "") -> None:
        """One line of words; `anchor` is where x is: ``"start"``, ``"middle"`` or ``"end"``.

        Raises:
            ValueError: the words would leave the card.
        """
        length = len(words) * (6.2 if "small" in style else 7.2)
        left = x - {"start": 0.0, "middle": length / 2, "end": length}[anchor]
        if left < 0 or left + length > self.width:
            raise ValueError(f"no room for {words!r}")
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" class="{style}">{escape(words)}</text>'
        )

    def line(self, points: Sequence[tuple[float, float]], kind: str = "line", arrow: bool = False) -> None:
        """A line through points, with an arrow at its end."""
        path = "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
        end = ' marker-end="url(#tip)"' if arrow else ""
        self.parts.append(f'<path class="{kind}" d="{path}"{end}/>')

    def dot(self, x: float, y: float, kind: str) -> None:
        """A point of a plot."""
        self.parts.append(f'<circle class="{kind}-dot" cx="{x:g}" cy="{y:g}" r="4"/>')

    def text(self) -> str:
        """The file's contents."""
        return "\n".join([*self.parts, "</svg>", ""])
