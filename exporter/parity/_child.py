"""The child's side of the goldens: draw the cases, run eager and the oracle, write what a bundle keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from exporter.engines.base import EngineRefused
from exporter.errors import ModelError
from exporter.parity.cases import Case, Rows, draw
from exporter.parity.norms import FLOOR, SMALLEST_SCALE, WORST_E_REF, norms
from exporter.parity.oracle import Truth, make_oracle
from exporter.spec.model import Spec
from exporter.tensors import Array, save
from exporter.trace.layer import load_layer
from exporter.trace.traced import bind_inputs
from exporter.workers import doing

#: Elements kept of an output that is too large to keep whole.
SAMPLE = 65_536


def record(request: dict[str, Any]) -> dict[str, Any]:
    """Write `golden.safetensors`; answer with what the manifest says of each case.

    Raises:
        ModelError: the eager layer does not run on a case that the spec promises.
    """
    doing("importing paddle")
    import paddle

    paddle.set_device("cpu")
    spec = Spec.model_validate(request["spec"])
    doing("building the layer")
    layer = load_layer(spec.model, request["checkpoint"], spec.seed)
    order = tuple(one.name for one in bind_inputs(layer, spec.input_specs()))
    oracle = make_oracle(layer, order, tuple(request["outputs"]), spec.seed)
    rows = _rows(spec)
    kept: dict[str, Array] = {}
    described = []
    for number, one in enumerate(request["cases"], start=1):
        case = Case(one["name"], one["dims"], one["seed"])
        doing(f"recording case {case.name}", case=case.name, number=number, of=len(request["cases"]))
        inputs = draw(spec, case, rows)
        try:
            eager, truths, gate = oracle.ask(inputs)
        except EngineRefused as refusal:
            raise ModelError(
                f"the eager layer does not run on this case: {refusal}",
                where=f"case {case.name}",
                hint="the dims or values of the spec promise what forward cannot take",
            ) from refusal
        kept.update({f"{case.name}/input/{name}": value for name, value in inputs.items()})
        outputs = {name: _describe(value, truths[name], gate) for name, value in eager.items()}
        described.append({"name": case.name, "dims": dict(case.dims), "seed": case.seed, "outputs": outputs})
        kept.update({f"{case.name}/eager/{name}": value for name, value in eager.items()})
        kept.update({f"{case.name}/truth/{name}": truths[name].value for name in eager if not outputs[name]["exact"]})
    doing("writing goldens")
    save(Path(request["into"]), _bounded(kept, spec.golden_mb, spec.seed))
    return {"cases": described}


def _rows(spec: Spec) -> Rows | None:
    """The recipe's held-out data, if any input is filled with it."""
    if spec.recipe is None or all(one.values != "dataset" for one in spec.inputs.values()):
        return None
    from exporter.recipe.load import held_out_samples, load_recipe

    recipe = load_recipe(spec.recipe)
    return lambda names, count, seed: held_out_samples(recipe, names, count, seed)


def _describe(eager: Array, truth: Truth, unstable: str) -> dict[str, Any]:
    exact = eager.dtype.kind != "f"
    scale = (0.0, 0.0) if exact else norms(truth.value)
    gate = unstable or ("" if exact else _gate(eager, truth, scale))
    sound = [np.isfinite(number) for number in (*scale, truth.e_ref_max, truth.e_ref_l2)]
    return {
        "dtype": eager.dtype.name,
        "shape": list(eager.shape),
        "exact": exact,
        # JSON has no infinity; where the gate is shut the numbers serve nothing.
        "scale_max": scale[0] if all(sound) else 0.0,
        "scale_l2": scale[1] if all(sound) else 0.0,
        "e_ref_max": truth.e_ref_max if all(sound) else 0.0,
        "e_ref_l2": truth.e_ref_l2 if all(sound) else 0.0,
        "method": truth.method,
        "gate": gate,
    }


def _gate(eager: Array, truth: Truth, scale: tuple[float, float]) -> str:
    """Why this output of this case cannot prove anything; empty where it can. Comes before bit equality."""
    if not np.isfinite(eager).all():
        return "eager is not finite"
    if not np.isfinite(truth.value).all():
        return "float64 is not finite"
    if eager.size and scale[0] < SMALLEST_SCALE:
        return f"the largest value ({scale[0]:.1e}) is zero or near the denormals"
    if not 4 * max(truth.e_ref_max, truth.e_ref_l2, FLOOR) <= WORST_E_REF:
        return f"rounding alone moves it by {truth.e_ref_max:.1e} of its size"
    return ""


def _bounded(tensors: dict[str, Array], megabytes: float, seed: int) -> dict[str, Array]:
    """Keep a seeded sample of the largest outputs until all fit; inputs are always whole."""
    size = sum(value.nbytes for value in tensors.values())
    result = dict(tensors)
    eagers = sorted((key for key in tensors if "/eager/" in key), key=lambda key: -tensors[key].nbytes)
    for key in eagers:
        if size <= megabytes * 1e6 or tensors[key].size <= SAMPLE:
            break
        generator = np.random.default_rng(seed)
        index = np.sort(generator.choice(tensors[key].size, SAMPLE, replace=False))
        result[key.replace("/eager/", "/index/")] = index.astype("int64")
        for one in (key, key.replace("/eager/", "/truth/")):
            if one in result:
                result[one] = tensors[one].ravel()[index]
                size -= tensors[one].nbytes - result[one].nbytes
    return result
