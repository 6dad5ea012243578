"""Read one YAML document as the core schema of YAML 1.2 has it: `yes`, `017` and `1:30` are text, no key comes twice.

PyYAML composes the nodes; what it makes of them by YAML 1.1 is not used: octal numbers, sexagesimal numbers, dates,
`yes` and `off`, merge keys. A document is bounded in size, in depth and in what its aliases expand to, so that a small
file cannot become a large value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from exporter.base.errors import UsageError

#: Bytes of a document: PyYAML reads about 100 KB in a second.
MOST_BYTES = 200_000
#: Values of a document, each alias counted as what it stands for; and how deep they may lie in each other.
MOST_NODES, MOST_DEPTH = 20_000, 50

Path = tuple[str | int, ...]


class Marks(dict[Path, tuple[int, int]]):
    """Line and column, from 1, by the place of a value; `texts` has what is written there, of each plain value."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[Path, str] = {}


_CORE = "tag:yaml.org,2002:"
#: The plain scalars that are not text (YAML 1.2.2, chapter 10.3.2). A number that begins with 0 is text as well: one
#: reader takes 017 for 17 and another for 15.
_NULL = re.compile(r"^(?:~|null|Null|NULL|)$")
_BOOL = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")
_INT = re.compile(r"^(?:[-+]?(?:0|[1-9][0-9]*)|0o[0-7]+|0x[0-9a-fA-F]+)$")
_FLOAT = re.compile(
    r"^(?:[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
)
_RESOLVERS = [(_CORE + "null", _NULL), (_CORE + "bool", _BOOL), (_CORE + "int", _INT), (_CORE + "float", _FLOAT)]


class _Loader(yaml.SafeLoader):
    """Resolves plain scalars by the core schema of YAML 1.2."""


_Loader.yaml_implicit_resolvers = {None: _RESOLVERS}


#: What PyYAML's words for a place mean to who wrote it.
_CURES = {
    "'\\t'": "write blanks in place of the tab",
    "expected ',' or ']'": "close the list with ]",
    "expected ',' or '}'": "close the mapping with }",
    "mapping values are not allowed": "indent the key as the keys beside it, or quote text that holds ': '",
    "could not find expected ':'": "write key: value",
    "unexpected end of stream": "close the quote",
    "did not find expected <document start>": "write key: value, with a blank after the colon",
}


def _mend(problem: str) -> str:
    cure = next((cure for words, cure in _CURES.items() if words in problem), "")
    return f"mend the file at that place: {cure}" if cure else "mend the file at that place"


def load(text: str, source: str) -> tuple[Any, Marks]:
    """Return the plain data of a document, and where each value stands in it; `source` names it in errors.

    Raises:
        UsageError: it is not YAML, holds a tag beyond the core schema, a key twice, or more than the bounds above.
    """
    if len(text) > MOST_BYTES:
        raise UsageError(f"more than {MOST_BYTES:,} characters", where=source, hint="put arrays into .npy files")
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{source}:{mark.line + 1}:{mark.column + 1}" if mark else source
        raise UsageError(f"not valid YAML: {error.problem}", where=where, hint=_mend(error.problem or "")) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"not valid YAML: {error}", where=source, hint="mend the file") from error
    reader = _Reader(source)
    return (None if node is None else reader.value(node, ())), reader.marks


@dataclass
class _Reader:
    """Turns nodes into plain data."""

    source: str
    marks: Marks = field(default_factory=Marks)
    _open: set[int] = field(default_factory=set)
    _nodes: int = 0

    def value(self, node: yaml.Node, place: Path) -> Any:
        """The plain data of a node at a place of the document."""
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise self._wrong(node, f"more than {MOST_NODES:,} values", "leave out aliases that multiply")
        if id(node) in self._open:
            raise self._wrong(node, "an alias leads back to itself", "write the value out")
        if len(place) > MOST_DEPTH:
            raise self._wrong(node, f"more than {MOST_DEPTH} levels", "write it flatter: a spec has a few")
        self.marks.setdefault(place, _at(node))
        self._open.add(id(node))
        data = self._data(node, place)
        self._open.discard(id(node))
        return data

    def _data(self, node: yaml.Node, place: Path) -> Any:
        if isinstance(node, yaml.MappingNode) and node.tag == _CORE + "map":
            return self._mapping(node, place)
        if isinstance(node, yaml.SequenceNode) and node.tag == _CORE + "seq":
            return [self.value(item, (*place, index)) for index, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode):
            self.marks.texts[place] = node.value
            return self._scalar(node)
        tag = node.tag.replace(_CORE, "!!")
        raise self._wrong(node, f"not valid YAML: the tag {tag} means nothing here", "leave the tag out")

    def _mapping(self, node: yaml.MappingNode, place: Path) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value
            if not isinstance(key_node, yaml.ScalarNode) or not key_node.tag.startswith(_CORE):
                raise self._wrong(key_node, "a key is a word", "quote it")
            inner = (*place, key)
            if key in data:
                hint = f"leave one out: the first is in line {self.marks[inner][0]}"
                raise self._wrong(key_node, f"key '{key}' is given twice", hint)
            self.marks[inner] = _at(key_node)
            data[key] = self.value(value_node, inner)
        return data

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        text: str = node.value
        kind = node.tag.removeprefix(_CORE)
        if kind == "str":
            return text
        if kind == "null" and _NULL.match(text):
            return None
        if kind == "bool" and _BOOL.match(text):
            return text.lower() == "true"
        if kind == "int" and _INT.match(text) and len(text) < 400:
            return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
        if kind == "float" and (_FLOAT.match(text) or _INT.match(text)):
            return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
        raise self._wrong(
            node,
            f"not valid YAML: '{text[:40]}' is no {node.tag.replace(_CORE, '!!')}",
            "leave the tag out, or quote it",
        )

    def _wrong(self, node: yaml.Node, what: str, hint: str) -> UsageError:
        line, column = _at(node)
        return UsageError(what, where=f"{self.source}:{line}:{column}", hint=hint)


def _at(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1
