"""Curves as an SVG file of its own."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from exporter.report.curves import curves


def test_curves_are_an_svg_of_their_own() -> None:
    found = ET.fromstring(curves("a & b", "step", {"eager": [1.0, 0.1, 0.0], "ast": [2.0, float("nan"), 0.2]}))
    lines = [line.attrib["points"].split() for line in found.iter("{http://www.w3.org/2000/svg}polyline")]
    assert [len(points) for points in lines] == [2, 2]
    assert lines[1][0].startswith("64.0,") and lines[1][1].startswith("624.0,")
