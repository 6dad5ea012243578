"""One of the model's outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.base.errors import UsageError, did_you_mean
from exporter.steps.base import CLASSES, VALUE, State, Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array


class Take(Step):
    """Hands on the output that is called `output`; without this step the first is handed on."""

    output: str

    def apply(self, state: State) -> dict[str, Array]:
        if self.output not in state:
            known = sorted(set(state) - {VALUE, CLASSES})
            raise UsageError(f"there is no output '{self.output}'", hint=did_you_mean(self.output, known))
        return {**{name: value for name, value in state.items() if name != CLASSES}, VALUE: state[self.output]}


plugin: type[Step] = Take
