"""In a child: why a backward pass fails; a write in place is named by its line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exporter.paddle.user_line import error_line
from exporter.train.finding import Finding
from exporter.train.lines import Line, Writes, line_by_line
from exporter.train.passes import Passes, address

if TYPE_CHECKING:
    import paddle

#: What Paddle says of a write to a leaf with a gradient (fluid/eager/utils.cc, 3.0 to 3.3).
WRITTEN_PARAMETER = "inplace strategy"
_HINT = "write x = x + y in the place of x += y, x.add_(y) or x[...] = y"


def why_backward_fails(passes: Passes, error: Exception, run: Callable[[], paddle.Tensor]) -> list[Finding]:
    """A finding for each line whose write in place breaks it; one that quotes Paddle where it is something else.

    Its place is the sublayer that gave the tensor, else the one whose code the line is. `run` runs forward again.
    """
    if "modified by an inplace operation" not in str(error):  # fluid/eager/tensor_wrapper.h, 3.0 to 3.3
        said = next((line for line in str(error).splitlines() if "Error" in line), str(error).strip()[:200])
        hint = "look for a layer or operator of your own with a backward pass, and for what runs it twice"
        return [Finding("error", "loss", f"the backward pass fails: {said}", hint)]
    writes = Writes()
    passes.calls.clear()
    with writes.watching(), line_by_line(lambda: passes.place, writes.look):
        run()
    if not writes.found:
        what = "the backward pass fails: a tensor that it needs is written to in place, in code that is not the model's"
        return [Finding("error", "loss", what, _HINT)]
    return [_finding(passes, line, tensor) for line, tensor in writes.found.items()]


def _finding(passes: Passes, line: Line, tensor: Any) -> Finding:
    place = address(tensor)
    given = [call.name for call in passes.calls if any(place == address(output) for output in call.outputs)]
    what = "what it gave is written to in place" if given else "a tensor is written to in place"
    said = f"the backward pass fails: {what} ({line}) before its gradient is computed"
    return Finding("error", (given or [line.place])[0], said, _HINT)


def written_parameter(error: ValueError, place: str) -> Finding | None:
    """That forward writes to a parameter in place, which Paddle refuses; None where the error says something else."""
    if WRITTEN_PARAMETER not in str(error):
        return None
    what = f"its code writes to a parameter in place ({Path(error_line(error)).name}), which has a gradient"
    return Finding("error", place, what, "leave changes of parameters to the optimizer, or make them under no_grad")
