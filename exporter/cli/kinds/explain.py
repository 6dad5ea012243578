"""`exporter explain`: the page of a rule."""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import Annotated

import typer

from exporter.base.errors import ExitCode, UsageError
from exporter.cli import options
from exporter.cli.run import Verb


def explain(
    code: Annotated[str, typer.Argument(help="A code that `check` printed; all are listed if none.")] = "",
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> ExitCode:
    """Say what a finding means, why it matters, and what to write instead."""
    del debug
    from exporter.check.codes import OWN_CODES
    from exporter.check.rule_page import page
    from exporter.check.run import rules

    code, every = code.upper(), rules()
    if not code:
        titles = {**OWN_CODES, **{name: page(rule).title for name, rule in every.items()}}
        lines = [f"{name}  {title}\n" for name, title in sorted(titles.items())]
        sys.stdout.write(json.dumps(dict(sorted(titles.items()))) + "\n" if as_json else "".join(lines))
        return ExitCode.PASSED
    if code in OWN_CODES:
        content = {"code": code, "title": OWN_CODES[code]}
        sys.stdout.write(json.dumps(content) + "\n" if as_json else f"{code}: {OWN_CODES[code]}\n")
        return ExitCode.PASSED
    if code not in every:
        digits = "".join(filter(str.isdecimal, code))
        meant = f"EX{digits}"
        known = meant in every or meant in OWN_CODES
        hint = f"did you mean '{meant}'?" if known else "exporter explain, which lists all codes"
        raise UsageError(f"no finding has the code '{code}'", hint=hint)
    found = page(every[code])
    sys.stdout.write(json.dumps(dataclasses.asdict(found)) + "\n" if as_json else found.text())
    return ExitCode.PASSED


plugin: Verb = explain
