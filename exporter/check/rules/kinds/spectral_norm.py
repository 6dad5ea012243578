"""EX130: spectral norm, whose normalised weight a trace does not compute."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.facts import Called, Facts, Phase
from exporter.check.rules.base import Fault, Rule, Shown


class SpectralNorm(Rule):
    """A layer is wrapped in `spectral_norm`.

    What:
        The model uses `paddle.nn.utils.spectral_norm`.

    Why:
        A hook divides the weight by its norm before each call, and stores the result as a buffer of the layer. A trace
        drops that write. A program that `paddle.jit.save` writes holds the buffer as the last eager call left it: of a
        layer that never ran, the weight without any division; of one that ran before its weights were loaded or trained
        further, the weight of that time. Nothing warns. Power iteration is not the cause: it runs in training only, and
        two calls in evaluation agree. `weight_norm` is stored in the same way, but starts out right: it is wrong only
        where a checkpoint was loaded after the last call. `exporter convert` lets both hooks compute their weights once
        the checkpoint is loaded, so that its programs are right; other tools do not.

    Example:
        import paddle

        class Net(paddle.nn.Layer):
            def __init__(self):
                super().__init__()
                self.fc = paddle.nn.utils.spectral_norm(paddle.nn.Linear(8, 8))  # <- here

            def forward(self, x):
                return self.fc(x)

    Use instead:
        import paddle

        class Net(paddle.nn.Layer):
            def __init__(self):
                super().__init__()
                self.fc = paddle.nn.Linear(8, 8)

            def forward(self, x):
                return self.fc(x)

        def fold(trained, x):
            trained.eval()
            trained(x)  # computes trained.fc.weight
            plain = Net()
            plain.fc.weight.set_value(trained.fc.weight)
            plain.fc.bias.set_value(trained.fc.bias)
            return plain

    Source:
        Measured on Paddle 3.3.1, a Linear of 8 to 4, largest error of the program: 9.8 at a scale of 8.1 if the layer
        never ran; 0 if it ran once in evaluation or in training; 3.0 at 1.1 if a checkpoint was loaded after it ran; 0
        if it ran again after that; 0.1 at 5.2 after a last step of SGD without a call. `weight_norm`: 0 as built, 2.2
        at 1.1 once a checkpoint was loaded. `do_power_iteration` is `layer.training`
        ('nn/utils/spectral_norm_hook.py'); the buffer is written by `assign(value, buffer)` ('nn/layer/layers.py',
        `Layer.__setattr__`), which PIR does not support.
    """

    code = "EX130"
    severity = Severity.WARNING
    predicts = (Fault.VALUES, Fault.FAILS)
    shown = Shown.EVERY_RUN

    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        for fact in facts.of(Called):
            if fact.site.phase is not Phase.MODULE and fact.name.endswith(".spectral_norm"):
                message = "paddle.jit.save stores the weight of the last eager call, not what spectral_norm computes"
                cure = "export by `exporter convert`, which lets it compute, or run the layer in evaluation once "
                yield self.at(fact.site, message, cure + "its last weights are loaded")


plugin: Rule = SpectralNorm()
