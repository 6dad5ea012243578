"""XML as trees, of files that strangers wrote: no entities, no document types, bounded in size, depth and number."""

from __future__ import annotations

from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from exporter.base.readers.base import Content, damaged

#: As a PIR program: parsed, it takes some twenty times its size.
MAX_BYTES = 24 << 20
_MAX_DEPTH, _MAX_ELEMENTS = 64, 1_000_000


def parse(content: Content, where: str) -> Element:
    """Return the root of a document.

    Raises:
        BundleError: it is not XML, too large, too deep, or declares a document type.
    """
    if len(content) > MAX_BYTES:
        raise damaged(f"{len(content)} bytes of XML, more than any program has", where)
    builder, parser = TreeBuilder(), expat.ParserCreate()
    depth = count = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth, count
        depth, count = depth + 1, count + 1
        if depth > _MAX_DEPTH or count > _MAX_ELEMENTS:
            what = f"nested more than {_MAX_DEPTH} deep" if depth > _MAX_DEPTH else f"more than {_MAX_ELEMENTS:,} tags"
            raise damaged(f"XML: {what}", where, parser.CurrentByteIndex)
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    def declare(*_: object) -> None:
        raise damaged("XML that declares a document type, which no program needs", where, parser.CurrentByteIndex)

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = declare
    try:
        parser.Parse(content[:], True)
    except expat.ExpatError as error:
        raise damaged(f"not XML ({error})"[:200], where, parser.ErrorByteIndex) from error
    return builder.close()
