"""Methods of `Variable`, the tensor of a legacy program, that are ours."""

from __future__ import annotations

from typing import Any


def method(member: Any) -> Any:
    """A method as one of Paddle's own, which dy2static leaves alone; ours it would transcribe."""
    from exporter.paddle.private import Variable

    if callable(member) and member.__module__.startswith(__package__):
        member.__module__ = Variable.__module__
    return member
