"""`if mask.shape[2] > 0: mask = mask.unsqueeze(1); …`: a name that a branch sets and nothing reads behind it."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches


def _another_rank(self: Layer, x: Tensor) -> Tensor:
    y, middle = x * 2.0, x + 1.0
    if x.shape[0] > 1:
        middle = middle.sum(axis=0)
        y = y + middle
    return y


def _only_in_one(self: Layer, x: Tensor) -> Tensor:
    y = x * 2.0
    part = [y, y + 1.0]
    if x.shape[0] > 1:
        part = x.sum(axis=0)
        y = y + part
    return y - 1.0


class UnreadBranch(Fix):
    """A branch gives each name that it sets, and both branches have to give it alike, whether it is read or not.

    So a name that nothing reads behind the branches is None at the end of each. In a loop a name counts as read where
    any code of the function reads it, and anywhere if a function or a lambda holds it.
    """

    apis = ("paddle.static.nn.cond",)
    formats = ("pir",)
    seen = ("3.3.1", "3.3.1")
    examples = (Example(_another_rank, (("n", 4),)), Example(_only_in_one, (("n", 4),)))

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import IfElseTransformer

        def visited(stock: Value, self: Value, node: Value) -> Value:
            from paddle.utils import gast

            for name in sorted(unread(self.root, node)):
                for branch in (node.body, node.orelse):
                    branch.append(gast.parse(f"{name} = None").body[0])
            return stock(self, node)

        patches.body(IfElseTransformer.visit_If, visited)


#: What dy2static calls the functions that it makes of branches and loops; each runs where it stands.
_MADE = (
    "true_fn", "false_fn", "get_args", "set_args",
    "while_condition", "while_body", "for_loop_condition", "for_loop_body",
)  # fmt: skip


def unread(root: Value, node: Value) -> set[str]:
    """Names of the user's that the `if` of this node sets, and that no code of its function reads behind it."""
    names = {name for name in node.pd_scope.modified_vars() if name.isidentifier() and not name.startswith("__")}
    reads = _Reads(node)
    reads.visit(root)
    alive = reads.behind | reads.held | (reads.before | reads.inside if reads.in_a_loop else set())
    return names - alive if reads.met else set()


class _Reads:
    """Names that a function reads, around one of its nodes.

    `held`: by functions and lambdas, which may be called at any time, and those that are not of this function.
    """

    def __init__(self, node: Value) -> None:
        self.node = node
        self.met = False
        self.in_a_loop = False
        self.before: set[str] = set()
        self.inside: set[str] = set()
        self.behind: set[str] = set()
        self.held: set[str] = set()
        self._place = self.before
        self._functions: list[str] = []

    def visit(self, node: Value) -> None:
        """Note what this node and those within read, in their order."""
        if node is self.node:
            self.met, self.in_a_loop, self._place = True, len(self._functions) > 1, self.inside
            self._within(node)
            self._place = self.behind
        else:
            self._within(node)

    def _within(self, node: Value) -> None:
        kind = type(node).__name__
        if kind == "Global" or (kind == "Nonlocal" and not self._functions[-1].startswith(_MADE)):
            self.held |= set(node.names)
        elif kind == "Name" and type(node.ctx).__name__ in ("Load", "Del"):
            self._read(node.id)
        elif kind == "AugAssign" and type(node.target).__name__ == "Name":
            self._read(node.target.id)
        function = kind in ("FunctionDef", "Lambda")
        if function:
            self._functions.append(getattr(node, "name", ""))
        for child in _children(node):
            self.visit(child)
        if function:
            self._functions.pop()

    def _read(self, name: str) -> None:
        (self._place if self._made() else self.held).add(name)

    def _made(self) -> bool:
        """Return whether each function around, but for the outermost, is one that dy2static made."""
        return all(name.startswith(_MADE) for name in self._functions[1:])


def _children(node: Value) -> list[Value]:
    from paddle.utils import gast

    return list(gast.iter_child_nodes(node))


plugin: Fix = UnreadBranch()
