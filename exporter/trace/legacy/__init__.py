"""Legacy programs (`.pdmodel`) from Paddle 3.2 and 3.3.

Since 3.2 Paddle moves the bodies of its most common functions to C++, and their C++ entries know eager mode and PIR
only: "must be Value, but got Variable". This room puts the missing branch back, from the outside and only while
exporting.

    table/       one line an API: signature, legacy operator, slots, attributes, dtype rule
    audit        the table against the operators and signatures of the installed Paddle
    call, values, dtypes, attributes, lowering      from a call to an operator
    composed     functions that never had a legacy operator, made of others
    dispatch     what stands in for the C++ entries: lower, compose or refuse
    patches      replacing references, and restoring them exactly
    promotion, exact, mends/      what else of Paddle is broken in legacy mode
    older        operators that older runtimes lack, made of what they have
    session      the context manager around all of it
    files        the written files, made fit for old runtimes
    runtimes     which versions of Paddle can load a file, and why not the others
"""

from __future__ import annotations

from exporter.paddle.refusal import CannotLower
from exporter.trace.legacy.files import finish
from exporter.trace.legacy.runtimes import runtimes
from exporter.trace.legacy.session import legacy_export

__all__ = ["CannotLower", "finish", "legacy_export", "runtimes"]
