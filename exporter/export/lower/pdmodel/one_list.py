"""A list to which both branches append: after either it is that list, and no operator has to choose."""

from __future__ import annotations

from typing import Any, TypeAlias

from exporter.paddle.patches import Patches

#: Of Paddle's own types, whatever they are.
Value: TypeAlias = Any


def install(patches: Patches) -> None:
    """Let `select_input` of one variable give it.

    Of lists Paddle's translation to PIR, with which `jit.load` begins, refuses the operator, and the assignment of what
    it gives to what a loop carries (3.3.1); the loop leaves that out where its body gives the list itself.
    """
    from exporter.paddle.private import select_input

    def chosen(stock: Value, inputs: Value, mask: Value) -> Value:
        of_false, of_true = inputs
        return of_true if of_true is of_false else stock(inputs, mask)

    patches.body(select_input, chosen)
