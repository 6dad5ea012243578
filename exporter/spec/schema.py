"""The JSON Schema of a spec, for editors: made from the model itself, so that it cannot fall behind."""

from __future__ import annotations

from typing import Any

from exporter.spec.model import Spec

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, Any]:
    """The schema of a spec file, draft 2020-12.

    What compares keys with each other (a dim that no input uses, min over max) is beyond a schema: `read_spec` says it.
    """
    return {"$schema": DIALECT, **Spec.model_json_schema(), "title": "A spec of exporter"}
