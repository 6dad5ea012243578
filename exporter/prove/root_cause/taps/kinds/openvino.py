"""Tap an IR of OpenVINO: give every intermediate value a name and a `Result` of its own."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, tostring

from exporter.base.errors import BundleError
from exporter.base.readers.base import map_file
from exporter.base.readers.kinds import openvino
from exporter.base.readers.xml import parse
from exporter.prove.root_cause.taps.base import Tap, link_others

_MODEL = "model.xml"
#: What is no value in between; a constant is none either.
_ENDS = ("Parameter", "Result", "Const")


def tap(folder: Path, into: Path) -> tuple[str, ...]:
    """Append a `Result` for each port of the main graph that has none; loops and branches are left as they are."""
    where = str(folder / _MODEL)
    content = map_file(folder / _MODEL)
    net = parse(content, where)
    outputs = [spec.name for spec in openvino.facts_of(net, len(content), where).outputs]
    layers, edges = net.find("layers"), net.find("edges")
    if layers is None or edges is None:
        raise BundleError("an IR without layers or edges", where=where, hint="get a fresh copy")
    known = {id(port) for port in openvino.source_ports(net).values()}
    taps: list[str] = []
    for layer in list(layers.iterfind("layer")):
        for port in layer.iterfind("output/port") if layer.get("type") not in _ENDS else ():
            if id(port) not in known:
                taps.append(f"tap:{len(taps)}")
                _put_out(layers, edges, (layer, port), taps[-1])
    (into / _MODEL).write_bytes(tostring(net, encoding="utf-8", xml_declaration=True))
    link_others(folder, into, _MODEL)
    return (*outputs, *taps)


def _put_out(layers: Element, edges: Element, source: tuple[Element, Element], name: str) -> None:
    """Add a `Result` that is called `name` and reads a port; ids need only differ, and ours are of no other layer."""
    layer, port = source
    number = f"{10**9 + len(layers)}"
    about = {"id": number, "name": name, "type": "Result", "version": "opset1", "output_names": name}
    reads = SubElement(SubElement(SubElement(layers, "layer", about), "input"), "port", {"id": "0"})
    reads.set("precision", port.get("precision", ""))
    reads.extend(port.findall("dim"))
    between = {"from-layer": layer.get("id", ""), "from-port": port.get("id", ""), "to-layer": number, "to-port": "0"}
    SubElement(edges, "edge", between)
    port.set("names", openvino.joined([name, *openvino.names_of(port.get("names", ""))]))


plugin: Tap = tap
