"""One of the model's outputs."""

from __future__ import annotations

from exporter.base.errors import UsageError, did_you_mean
from exporter.export.fold.base import Operator, Tensors
from exporter.steps.base import VALUE
from exporter.steps.kinds.take import Take


class FoldedTake(Operator[Take]):
    """By the name that the model gives it: the key of a dict, or `output_0`, `output_1` and so on."""

    def apply(self, step: Take, state: Tensors) -> Tensors:
        if step.output not in state:
            known = sorted(set(state) - {VALUE})
            hint = did_you_mean(step.output, known, f"one of: {', '.join(known)}")
            raise UsageError(f"the model has no output '{step.output}'", where="pipeline.fold", hint=hint)
        return {**state, VALUE: state[step.output]}


plugin: Operator[Take] = FoldedTake()
