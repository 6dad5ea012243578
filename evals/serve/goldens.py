"""The recorded cases of a bundle as requests, and their answers judged by the bundle's own rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from exporter.base.tensors import load
from exporter.bundle.layout import GOLDEN
from exporter.bundle.open import open_bundle
from exporter.deploy.handoff.interface import DTYPES
from exporter.prove.compare.outputs import compare_case

_DATATYPES = {dtype: datatype for datatype, dtype in DTYPES.items()}


class Goldens:
    """What is asked of a server, and what it has to answer."""

    def __init__(self, folder: Path, variant: str = "onnx") -> None:
        bundle = open_bundle(folder)
        self.manifest, goldens = bundle.manifest, bundle.goldens()
        self.variant = self.manifest.variants[variant]
        tensors = load(bundle.folder / GOLDEN)
        recorded = {case.recorded: case for case in goldens}
        self.cases = [case for name, case in recorded.items() if case.name == name]
        self._all = {name: [case.outputs[name] for case in goldens] for name in goldens[0].outputs}
        self._inputs = [self._tensors(tensors, case.name) for case in self.cases]
        self._judged: dict[tuple[int, str], str] = {}

    @property
    def path(self) -> str:
        """Where the model is asked."""
        return f"/v2/models/{self.manifest.name}/infer"

    def _tensors(self, tensors: Any, case: str) -> list[dict[str, Any]]:
        found = []
        for one, native in zip(self.manifest.inputs, self.variant.inputs, strict=True):
            value = tensors[f"{case}/input/{one.name}"]
            facts = {"name": native, "datatype": _DATATYPES[one.dtype], "shape": list(value.shape)}
            found.append({**facts, "data": value.ravel().tolist()})
        return found

    def request(self, number: int, identity: str = "") -> dict[str, Any]:
        """The request of a case, as an object."""
        return {"id": identity or f"case {number}", "inputs": json.loads(json.dumps(self._inputs[number]))}

    def body(self, number: int, identity: str) -> bytes:
        """The same as bytes."""
        return json.dumps({"id": identity, "inputs": self._inputs[number]}).encode()

    def wrong(self, number: int, identity: str, answer: Any) -> str:
        """What is wrong with an answer; an empty text if it is the golden's. Equal answers are judged once."""
        if not isinstance(answer, dict) or answer.get("id") != identity:
            return f"not the answer to {identity}: {str(answer)[:200]}"
        key = (number, json.dumps(answer.get("outputs")))
        if key not in self._judged:
            self._judged[key] = self._judge(number, answer["outputs"])
        return self._judged[key]

    def _judge(self, number: int, outputs: list[dict[str, Any]]) -> str:
        names = {native: one.name for one, native in zip(self.manifest.outputs, self.variant.outputs, strict=True)}
        got = {
            names[tensor["name"]]: np.array(tensor["data"], DTYPES[tensor["datatype"]]).reshape(tensor["shape"])
            for tensor in outputs
        }
        budget = self.manifest.budget if self.variant.precision == "fp32" else None
        case = self.cases[number]
        evidence = compare_case(case, got, budget, self._all)
        wrong = [f"{case.name}/{name}: {one.reason}" for name, one in evidence.items() if one.outcome.value != "match"]
        return "; ".join(wrong)

    @property
    def distinct(self) -> int:
        """How many different answers were judged."""
        return len(self._judged)
