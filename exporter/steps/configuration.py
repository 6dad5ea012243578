"""Read the configuration files of the families: YAML as PyYAML writes and reads it, from people nobody knows.

Only plain data is built. A file is bounded in bytes, in depth and in what its aliases expand to, before any of it is
built: libyaml's composer, which is ten times as fast as Python's, dies by SIGSEGV at 100,000 levels (PyYAML 6.0.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from exporter.base.errors import UsageError
from exporter.base.files import read_regular

#: The plain data of a configuration: a mapping of keys to values.
Configuration: TypeAlias = dict[str, Any]
#: Bytes of a configuration or a dictionary: those of models that read formulas hold vocabularies of megabytes.
MOST_BYTES = 8 << 20
#: Values of a file, each alias counted as what it stands for; and how deep they may lie in each other.
MOST_VALUES, MOST_DEPTH = 1_000_000, 100

#: What ends a line of a file.
NEWLINE = b"\n"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # libyaml's where it was built in
    """Builds plain data alone. Tags of a family's own, such as `!PiecewiseDecay`, are passed over."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> object:
        try:
            return super().construct_object(node, deep=deep)
        except ValueError as error:  # a date with month 13 is told without its place
            raise yaml.constructor.ConstructorError(None, None, str(error), node.start_mark) from error


def _plain(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> object:
    del suffix
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node) if isinstance(node, yaml.ScalarNode) else None


_Loader.add_multi_constructor("!", _plain)


def configuration(path: Path, above: tuple[Path, ...] = ()) -> Configuration:
    """A configuration with those that it is based on (`_BASE_` of PaddleDetection, `_base_` of PaddleSeg) merged in.

    Raises:
        UsageError: a file is not there, is no YAML, or is based on itself.
    """
    own = path.resolve()
    if own in above:
        raise UsageError("the configuration is based on itself", where=str(path), hint="correct its _BASE_")
    content = one_file(path)
    bases = [*_listed(content.pop("_BASE_", None)), *_listed(content.pop("_base_", None))]
    merged: Configuration = {}
    for base in bases:
        merged = _merged(merged, configuration(path.parent / base, (*above, own)))
    return _merged(merged, content)


def one_file(path: Path) -> Configuration:
    """The content of one file; what it is based on is not read.

    Raises:
        UsageError: it is not there, is no YAML, or holds more than the bounds above.
    """
    text = read_regular(path, MOST_BYTES)
    try:
        _bounded(yaml.parse(text, Loader=_Loader), str(path))
        content = _Loader(text).get_single_data()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = f"it is no YAML: {error.problem or error.context}"
        raise UsageError(what, where=_place(path, mark), hint="correct the file at that place") from error
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:  # a byte that no text has
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        at = _line_of_fault(text, error)
        raise UsageError(f"it is no YAML: {reason}", where=f"{path}{at}", hint="correct the file") from error
    if not isinstance(content, dict):
        raise UsageError("it is no mapping of keys to values", where=f"{path}:1:1", hint="name another file")
    return content


def _line_of_fault(text: bytes, error: Exception) -> str:
    """`:LINE` of what is no text or no character of YAML, whose byte libyaml tells; empty where it does not."""
    place = getattr(error, "start", getattr(error, "position", None))
    if not isinstance(place, int):
        return ""
    return f":{text[:place].count(NEWLINE) + 1}"


def line_of(path: Path, keys: Sequence[str | int]) -> str:
    """Say where the value at these keys and places of a file stands, as `FILE:LINE:COLUMN`; it was read before."""
    node: yaml.Node | None = yaml.compose(read_regular(path, MOST_BYTES), Loader=_Loader)
    mark = None
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            node = next((value for name, value in node.value if name.value == str(key)), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int):
            node = node.value[key]
        mark = node.start_mark if node else mark
    return _place(path, mark)


def _bounded(events: Iterable[yaml.Event], name: str) -> None:
    """Make sure that a document is neither deep nor, with its aliases written out, large.

    Raises:
        UsageError: it is.
    """
    counts, anchors, sizes = [0], list[str | None](), dict[str | None, int]()  # of the open collections; of what ended
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            counts.append(1)
            anchors.append(event.anchor)
            if len(anchors) > MOST_DEPTH:
                raise _refused(event, name, f"more than {MOST_DEPTH} levels")
        elif isinstance(event, (yaml.CollectionEndEvent, yaml.NodeEvent)):
            if isinstance(event, yaml.AliasEvent) and event.anchor in anchors:
                raise _refused(event, name, "an alias leads back to itself")
            if isinstance(event, yaml.CollectionEndEvent):
                anchor, size = anchors.pop(), counts.pop()
            else:
                anchor, size = event.anchor, sizes.get(event.anchor, 1)
            if anchor:
                sizes[anchor] = size
            counts[-1] += size
            if counts[-1] > MOST_VALUES:
                raise _refused(event, name, f"more than {MOST_VALUES:,} values")


def _refused(event: yaml.Event, name: str, what: str) -> UsageError:
    mark = event.start_mark
    where = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark else name
    return UsageError(what, where=where, hint="write it out, or leave it away")


def _place(path: Path, mark: yaml.Mark | None) -> str:
    return f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)


def _listed(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [str(base) for base in value] if isinstance(value, list) else []


def _merged(under: Configuration, over: Configuration) -> Configuration:
    result = dict(under)
    for key, value in over.items():
        before = result.get(key)
        fresh = isinstance(value, Mapping) and value.get("_inherited_") is False
        both = isinstance(before, Mapping) and isinstance(value, Mapping) and not fresh
        result[key] = _merged(before, value) if both else value  # type: ignore[arg-type]  # both are mappings
    return result
