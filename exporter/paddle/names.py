"""The names of parameters, which Paddle lets a process use once."""

from __future__ import annotations


def forget_parameter_names() -> None:
    """Let the next layer of this process use names that an earlier one has: call it before each factory.

    Paddle keeps the names given by `ParamAttr(name=...)` for the life of the process and raises 'parameter name [...]
    have be been used' where one comes again (`base/layer_helper_base.py`, 2.6 to 3.3), so a network that names its
    parameters could be built once. Within one build a name that comes twice is still refused. The generator of other
    names goes on, so that two layers of a process do not share those.
    """
    from paddle.utils import unique_name

    generator, _ = unique_name.switch()  # without arguments both are new; the second call takes the old generator back
    unique_name.switch(generator)
