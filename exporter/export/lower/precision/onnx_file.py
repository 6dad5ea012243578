"""What ONNX Runtime's converters leave to do before a file is one that every reader takes.

They append what they insert at the end of the top graph, where it is read before it is made and, if it belongs to a
value of a body, out of that value's sight; and the fp16 converter inserts a cast once for each node that reads it.
ONNX wants each name made once, and before it is read (onnx/docs/IR.md, "Graphs"); ONNX Runtime alone sorts files.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

from exporter.base.errors import ModelError
from exporter.base.readers.external import data_of
from exporter.base.tensors import Array
from exporter.export.lower.onnx_program.passes.graph import bodies, every, reads, refuse_invalid
from exporter.export.lower.stored import stored_tensors

#: What ONNX Runtime's quantizer takes for the note that shapes were inferred; else it copies the model to infer them.
_INFERRED = ("onnx.infer", "onnxruntime.quant")


def loaded(path: Path) -> Any:
    """Return the model of a file, with the tensors that lie beside it.

    Raises:
        ModelError: it is more than one message of protobuf holds, which the converters pass it on in.
    """
    import onnx

    size = sum(file.stat().st_size for file in (path, data_of(path)) if file.exists())
    if size >= onnx.checker.MAXIMUM_PROTOBUF:
        what = f"it takes {size / 1e9:.1f} GB, and ONNX Runtime's converters take 2.1"
        raise ModelError(what, where=path.name, hint="leave this precision out of onnx, or make it of pdmodel")
    return onnx.load(path)


class Source:
    """The float32 file that a quantizer starts from: nodes with names, values with shapes, and its numbers.

    Tensors that lie beside a file stay there: `model` only says where. So one of gigabytes is in memory once at most,
    as :meth:`whole` makes it. `file` is the same as a file, in a folder of the caller's.
    """

    def __init__(self, path: Path, into: Path) -> None:
        import onnx

        self.file = into / path.name
        self.apart = data_of(path).exists()
        model = onnx.shape_inference.infer_shapes(onnx.load(path, load_external_data=False))
        name_nodes(model.graph)
        self.model = model
        onnx.save(model, self.file)
        if self.apart:
            shutil.copyfile(data_of(path), data_of(self.file))  # a second name is refused by onnx 1.23
        self._tensors = {tensor.name: tensor for tensor in model.graph.initializer}
        self._beside = stored_tensors([self.file.name], into) if self.apart else None

    def numbers(self, name: str) -> Array:
        """The numbers of a stored tensor; large ones as they lie in their file."""
        from onnx.numpy_helper import to_array

        tensor = self._tensors[name]
        if self._beside is not None and tensor.external_data:
            return self._beside.array(name, copy=False)
        value: Array = to_array(tensor)
        return value

    def whole(self) -> Any:
        """A copy of the model with all of its numbers, for the caller to change."""
        import copy

        model = copy.deepcopy(self.model)
        if self.apart:
            model.metadata_props.add(key=_INFERRED[0], value=_INFERRED[1])
        return self.complete(model)

    def complete(self, model: Any) -> Any:
        """Give a model the numbers of those of its tensors that lie beside the file."""
        import onnx

        onnx.load_external_data_for_model(model, str(self.file.parent))
        return model


def name_nodes(graph: Any) -> None:
    """Give every node a name of its own, in bodies too: the converters tell nodes by their names."""
    taken = {node.name for node in every(graph)}
    seen = set[str]()
    for index, node in enumerate(every(graph)):
        if not node.name or node.name in seen:
            free = (f"{node.op_type}.{number}" for number in count(index))
            node.name = next(name for name in free if name not in taken)
            taken.add(node.name)
        seen.add(node.name)


def finished(model: Any) -> bytes:
    """The bytes of the file: nodes in the graphs they belong to, once and in order, and nothing that no node uses.

    Raises:
        ModelError: even so it is no valid ONNX, or more than one message of protobuf holds.
    """
    import onnx

    _put_where_they_belong(model.graph)
    _put_in_order(model.graph)
    _leave_out_the_unused(model)
    if (size := model.ByteSize()) >= onnx.checker.MAXIMUM_PROTOBUF:
        what = f"what is left takes {size / 1e9:.1f} GB, and an ONNX file that is quantised holds 2.1"
        raise ModelError(what, where="onnx", hint="keep fewer layers, or leave this precision out of onnx")
    refuse_invalid(model, "the file", "the precision out")
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def _put_where_they_belong(graph: Any) -> None:
    """Each node that reads a body's value from outside goes into that body; of nodes that make the same, one stays."""
    nodes = list({tuple(node.output): node for node in graph.node}.values())
    inside = set(_made(body for node in nodes for body in bodies(node)))
    strays = [node for node in nodes if inside & {*node.input}]
    hold(graph, [node for node in nodes if not inside & {*node.input}])
    for body in [body for node in every(graph) for body in bodies(node)]:
        own = {name for node in body.node for name in node.output} | {one.name for one in body.input}
        body.node.extend(node for node in strays if own & {*node.input})


def _made(graphs: Iterable[Any]) -> Iterator[str]:
    """What graphs and their bodies take in and make."""
    for graph in graphs:
        yield from (one.name for one in graph.input)
        yield from (name for node in graph.node for name in node.output)
        yield from _made(body for node in graph.node for body in bodies(node))


def _put_in_order(graph: Any) -> None:
    """Each node after those that it reads from, otherwise as they stand; in bodies, too."""
    nodes = list(graph.node)
    makers = {name: at for at, node in enumerate(nodes) for name in node.output if name}
    placed, begun = dict[int, Any](), set[int]()
    for first in range(len(nodes)):
        # The places of nodes, the next one last: each is looked at again once what it reads from has its place.
        waiting = [first]
        while waiting:
            at = waiting[-1]
            begun.add(at)
            before = {makers[name] for name in reads(nodes[at]) if name in makers} - placed.keys() - begun
            if before:
                waiting.extend(sorted(before, reverse=True))
            else:
                placed.setdefault(waiting.pop(), nodes[at])
    for node in nodes:
        for body in bodies(node):
            _put_in_order(body)
    hold(graph, list(placed.values()))


def hold(graph: Any, nodes: list[Any]) -> None:
    """Let these be the nodes of a graph."""
    del graph.node[:]
    graph.node.extend(nodes)


def _leave_out_the_unused(model: Any) -> None:
    """Numbers that no node reads, opsets of domains that no node has, and notes to other tools."""
    read = {name for node in model.graph.node for name in reads(node)} | {one.name for one in model.graph.output}
    for one in [one for one in model.graph.initializer if one.name not in read]:
        model.graph.initializer.remove(one)
    used = {node.domain for node in every(model.graph)}
    for one in [one for one in model.opset_import if one.domain and one.domain not in used]:
        model.opset_import.remove(one)
    del model.metadata_props[:]
