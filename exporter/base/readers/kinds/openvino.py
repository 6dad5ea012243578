"""`.xml`: OpenVINO's IR of version 10 or 11, read without OpenVINO; its numbers lie in the `.bin` beside it.

A layer has a `type` and the opset (`version`) that defines it. Inputs are the layers `Parameter`, outputs `Result`, and
a `Const` says at which offset of the `.bin` its numbers begin, and how many bytes they take. Loops and branches hold
layers of their own. The names that callers use stand at the ports (`names`), and of outputs also at the `Result`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from xml.etree.ElementTree import Element

from exporter.base.errors import UsageError
from exporter.base.readers.base import Content, ModelFacts, Reader, Weight, checked_shape, damaged
from exporter.base.readers.xml import parse
from exporter.base.tensors import TensorSpec

#: OpenVINO's names of element types, in layers and (in capitals) at ports.
DTYPES = {
    **{"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "boolean": "bool"},
    **{"fp16": "float16", "fp32": "float32", "fp64": "float64", "bool": "bool", "string": "string"},
    **{f"{sign}{bits}": f"{name}{bits}" for sign, name in (("i", "int"), ("u", "uint")) for bits in (4, 8, 16, 32, 64)},
    **{"f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2"},
}
_VERSIONS = ("10", "11")
_OWN = re.compile(r"opset\d{1,2}")
#: Names at a port are parted by commas; one that belongs to a name is written `\,`.
_COMMA = re.compile(r"(?<!\\),")
_NUMBER = re.compile(r"-?\d{1,19}")


def facts(content: Content, where: str) -> ModelFacts:
    """Facts of a program; its weights are declared, with their places in the `.bin`.

    Raises:
        UsageError: XML of another kind.
        BundleError: not XML, or an IR that is not whole.
    """
    return facts_of(parse(content, where), len(content), where)


def facts_of(net: Element, size: int, where: str) -> ModelFacts:
    """The same of XML of so many bytes that was parsed; raises as :func:`facts`."""
    version = net.get("version", "")
    if net.tag != "net":
        hint = "check the path: an IR of OpenVINO begins with <net>"
        raise UsageError("XML, but not an IR of OpenVINO", where=where, hint=hint)
    if version not in _VERSIONS:
        raise damaged(f"an IR of version {version[:20] or 'unknown'}, and 10 and 11 are known", where)
    layers = list(net.iter("layer"))
    kinds, sources = Counter(_kind(layer) for layer in layers), source_ports(net)
    return ModelFacts(
        "openvino",
        size,
        inputs=tuple(_input(layer, where) for layer in main_layers(net, "Parameter")),
        outputs=tuple(_output(layer, sources, where) for layer in main_layers(net, "Result")),
        operators={kind: kinds[kind] for kind in sorted(kinds) if kind not in ("Const", "Parameter", "Result")},
        writer=_writer(net),
        versions={"ir": int(version)},
        weights=tuple(_weight(layer, where) for layer in layers if layer.get("type") == "Const"),
    )


def covered(weights: Iterable[Weight], numbers: Content, where: str) -> None:
    """Make sure that a `.bin` holds the numbers of each weight.

    Raises:
        BundleError: it is truncated, or another program's.
    """
    for weight in weights:
        if any(stop > len(numbers) for _, stop in weight.pieces):
            what = f"tensor {weight.name!r} ends at byte {weight.pieces[-1][1]}, and {len(numbers)} bytes are here"
            raise damaged(what, where)


def main_layers(net: Element, kind: str) -> list[Element]:
    """Return the layers of a type that are no part of a loop or branch, in the order of the file."""
    return [layer for layer in net.iterfind("layers/layer") if layer.get("type") == kind]


def source_ports(net: Element) -> dict[str, Element]:
    """Return, by the id of each `Result`, the port whose value it puts out."""
    ports = {
        (layer.get("id"), port.get("id")): port
        for layer in net.iterfind("layers/layer")
        for port in layer.iterfind("output/port")
    }
    edges = [(edge.get("to-layer", ""), (edge.get("from-layer"), edge.get("from-port"))) for edge in main_edges(net)]
    results = {layer.get("id") for layer in main_layers(net, "Result")}
    return {to: ports[maker] for to, maker in edges if to in results and maker in ports}


def main_edges(net: Element) -> list[Element]:
    """Return the edges that are no part of a loop or branch."""
    return list(net.iterfind("edges/edge"))


def names_of(text: str) -> list[str]:
    """Return the names that stand at a port."""
    return [name.replace("\\,", ",") for name in _COMMA.split(text) if name]


def joined(names: Iterable[str]) -> str:
    """Return names as they stand at a port; the other way round as :func:`names_of`."""
    return ",".join(name.replace(",", "\\,") for name in names)


def _kind(layer: Element) -> str:
    """The type; of what no opset of OpenVINO's own defines, with what defines it: `extension.MyOp`."""
    version, kind = layer.get("version", ""), layer.get("type", "")
    return kind if _OWN.fullmatch(version) else f"{version or 'unknown'}.{kind}"


def _input(layer: Element, where: str) -> TensorSpec:
    port = layer.find("output/port")
    names = names_of(port.get("names", "")) if port is not None else []
    return TensorSpec(names[0] if names else layer.get("name", ""), *_type(port, where))


def _output(layer: Element, sources: Mapping[str, Element], where: str) -> TensorSpec:
    source = sources.get(layer.get("id", ""))
    names = names_of(layer.get("output_names", "")) or (names_of(source.get("names", "")) if source is not None else [])
    return TensorSpec(names[0] if names else layer.get("name", ""), *_type(layer.find("input/port"), where))


def _type(port: Element | None, where: str) -> tuple[str, tuple[int, ...]]:
    if port is None or (dtype := DTYPES.get(port.get("precision", "").lower())) is None:
        raise damaged("an input or output without a type", where)
    return dtype, checked_shape([_number(dim.text, where) for dim in port.iterfind("dim")], where)


def _weight(layer: Element, where: str) -> Weight:
    data = layer.find("data")
    about: Mapping[str, str] = data.attrib if data is not None else {}
    name, dtype = layer.get("name", ""), DTYPES.get(about.get("element_type", ""))
    if dtype is None:
        raise damaged(f"constant {name!r} of an unknown type", where)
    dims = [_number(dim, where) for dim in about.get("shape", "").split(",") if dim.strip()]
    weight = Weight(name, dtype, checked_shape(dims, where))
    offset, size = _number(about.get("offset"), where), _number(about.get("size"), where)
    if offset < 0 or -1 in weight.shape or (dtype != "string" and size != weight.nbytes):
        raise damaged(f"constant {name!r} {dtype}{list(weight.shape)} takes {size} bytes at {offset}", where)
    return Weight(name, dtype, weight.shape, ((offset, offset + max(size, 0)),))


def _number(text: str | None, where: str) -> int:
    if text is None or not _NUMBER.fullmatch(text.strip()):
        raise damaged(f"{str(text)[:40]!r} where a whole number is due", where)
    return int(text)


def _writer(net: Element) -> str:
    version = net.find("rt_info/Runtime_version")
    return f"OpenVINO {version.get('value', 'unknown').partition('-')[0][:40]}" if version is not None else "OpenVINO"


plugin: Reader = Reader((".xml",), facts)
