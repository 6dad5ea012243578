"""Goldens: recorded cases with their truth. What the recorded numbers show is computed, whatever is said of them.

The goldens hold, for each case, `<case>/input/<name>`, `<case>/eager/<output>` and, for float outputs,
`<case>/truth/<output>` in float64; of outputs too large to keep, a seeded sample with `<case>/index/<output>`. What is
said about them besides (method, gate, e_ref) is JSON and stands in the manifest.

Every bundle's verify.py holds a copy of this file, see :mod:`exporter.base.numbers.rule`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from exporter.base.numbers.norms import FLOOR, FLOOR_16, FLOOR_64, SMALLEST_SCALE, WORST_E_REF, norms, unrounded
from exporter.base.numbers.partial import Partial, counting

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: No allowance for few numbers (exporter/base/numbers/allowance.py) is larger: without any second run the factor would
#: excuse everything, it is a million for one number.
LARGEST_ALLOWANCE = 4.0
#: e_ref is the largest error of a few float32 runs, eager's among them. More than so many times what eager alone errs,
#: in its case or in any plain one, is no rounding; of fewer than MANY numbers in these cases chance makes it more, as
#: many times as they are fewer (measured on 5,211 outputs of 69 networks: 4.9 of many, and a third of it at most).
E_REF_TIMES, MANY = 24.0, 64
#: What the names of cases end in whose inputs are constant along an axis, and how many times the error they allow. Sums
#: of equal numbers, and a variance of hardly any, are nothing but the rounding of one order of adding, which all runs
#: of eager share: another order errs up to 6.3 times as much as they show (measured: a variance over an image with one
#: pixel, in ONNX Runtime and oneDNN; 4.1 for an instance norm of it in OpenVINO).
CONSTANT = (":zeros", ":one_hot", ":padded", ":smallest", ":largest", ":all_ones", ":all_zeros")
CONSTANT_TIMES = 4.0
#: How the kinds of cases begin in which rows of one input hold the ends of its range, or what is not finite. There
#: eager may have no answer, in these rows: which numbers are finite is compared, and the values of those that are.
ROWS_OF, NOT_FINITE_IN = "rows_of_", "not_finite_in_"
#: Eager's own error, computed again, is at most e_ref; other versions of numpy add in another order.
OTHER_ROUNDING = 1.01
#: How the method begins by which the middle of eager's float32 runs stands for the truth.
SPREAD = "spread of float32 runs"
#: What the name of a case ends in when it is run once more, and when it is run in more threads than the others.
AGAIN, IN_THREADS = ":again", ":threads="
#: Why an output that no input decides proves nothing where it is zero: nothing at all computes it as well.
ALL_ZERO = (
    "no input reaches it, and it is zero throughout, as what computes nothing gives it: leave it out of what forward "
    "returns, or waive it"
)
#: Why an output that sizes alone decide proves nothing where it is the same at all of them.
SAME_AT_ALL_SIZES = (
    "nothing but sizes decides it, and it is the same at all of them: give a dim that decides it another size (`dims:`)"
)
#: Why an output proves nothing whose largest value is this.
ZERO = "the largest value ({:.1e}) is zero or near the denormals"
#: The other number of threads: two share the work wherever there is some, on any machine.
THREADS = 2


@dataclass(frozen=True)
class GoldenOutput:
    """One output of one case.

    `eager` and `truth` are whole, or the elements at `index` of the flattened output. `scale` is (largest absolute
    value, rms) of the whole truth, `own` eager's relative error in the same two norms, `e_ref` the largest of it and of
    some more float32 runs. Cases of one `draw` have related values. `scores` names the float output and the axis whose
    argmax an integer is. `allowance` widens the tolerance of few numbers, `slack` that of a case of constant inputs.
    `wide`: float64, and no input is narrower. `central`: the truth is the middle of float32 runs. `partial`: eager's
    numbers as recorded, of which some need not be finite; `eager`, `truth` and `index` are of those that are.
    `constant`: no input decides it, and it is the same in all cases. `sized`: nothing but sizes decides it, and it is
    the same in all cases of the same sizes. `settled`: values decide it at other sizes, and at those of this case every
    draw gave one number throughout, zero if it is zero here.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    eager: Array
    truth: Array
    index: Array | None
    scale: tuple[float, float]
    e_ref: tuple[float, float]
    gate: str
    draw: str
    scores: tuple[str, int] | None
    allowance: float = 1.0
    slack: float = 1.0
    wide: bool = False
    own: tuple[float, float] = (0.0, 0.0)
    central: bool = False
    partial: Partial | None = None
    constant: bool = False
    sized: bool = False
    settled: bool = False

    @property
    def floor(self) -> float:
        """The smallest error that is measured in: of rounding in float32, or in float64 where nothing is narrower.

        Of float16 it is beyond the rounding of the output itself (:func:`exporter.base.numbers.norms.unrounded`).
        """
        return FLOOR_64 if self.wide else FLOOR_16 if self.dtype == "float16" else FLOOR

    @property
    def unit(self) -> tuple[float, float]:
        """Return the unit of errors in both norms: e_ref times allowance and slack, never below the floor."""
        times = self.allowance * self.slack
        return max(times * self.e_ref[0], self.floor), max(times * self.e_ref[1], self.floor)

    @property
    def sampled(self) -> bool:
        """Return whether only a sample of the output was recorded."""
        return (self.index if self.partial is None else self.partial.index) is not None

    @property
    def exact(self) -> bool:
        """Integers and booleans have no rounding: they are equal or wrong."""
        return self.eager.dtype.kind != "f"

    @cached_property
    def memo(self) -> dict[Any, Any]:
        """Return a cache of what is computed from this output once, for every engine that is judged by it."""
        return {}

    def kept(self, value: Array) -> Array:
        """Return the elements of a whole output that the golden keeps: all of them, or the sample, flat."""
        return value if self.index is None else value.ravel()[self.index]


@dataclass(frozen=True)
class GoldenCase:
    """One case: its name, the size of each named dim, and what each output should be.

    `recorded` is its name in the goldens, which serve more than one case. An engine computes it in so many `threads`.
    """

    name: str
    dims: Mapping[str, int]
    outputs: Mapping[str, GoldenOutput]
    recorded: str
    threads: int = 1

    def again(self) -> GoldenCase:
        """The same case, to be run once more: what an artifact keeps from call to call shows then."""
        return replace(self, name=self.name + AGAIN)

    def in_threads(self, threads: int) -> GoldenCase:
        """The same case, to be run in so many threads: work that is shared out wrongly shows then."""
        return replace(self, name=f"{self.name}{IN_THREADS}{threads}", threads=threads)


def to_run(recorded: Sequence[GoldenCase]) -> tuple[GoldenCase, ...]:
    """Return the cases that every engine runs: all recorded, the first again, the largest in `THREADS` threads.

    The largest, since engines share out only what is worth it.
    """
    largest = max(recorded, key=lambda case: math.prod(case.dims.values()))
    return (*recorded, recorded[0].again(), largest.in_threads(THREADS))


def unvaried(name: str, source: str, values: Iterable[Array]) -> str:
    """A sentence on an input that is the same in all cases, so that nothing shows what depends on it; else empty.

    `values` holds it case by case, and is read up to the first difference; `source` is what the spec fills it with.
    """
    by_shape: dict[tuple[int, ...], Array] = {}
    cases = 0
    for value in values:
        if by_shape.setdefault(value.shape, value).tobytes() != value.tobytes():
            return ""
        cases += 1
    kept = [value.ravel() for value in by_shape.values() if value.size]
    if not kept or cases == len(by_shape):  # no two cases have it in one shape
        return ""
    alike = all((value == kept[0][0]).all() for value in kept)
    what = f"{kept[0][0]} in every case" if alike else "the same in all cases of one size"
    more = f" (the upper bound of {source} is exclusive)" if source.startswith("integers(") else ""
    return (
        f"input '{name}' is {what}: nothing shows what depends on it, and an artifact that ignores it would pass; "
        f"give it `values:` that vary{more}"
    )


def promised(case: str) -> bool:
    """Return whether the spec promises a case of this name: it is neither a probe nor a second run."""
    return ":" not in case


def may_be_partial(case: str) -> bool:
    """Return whether eager may lack an answer in some rows of a case of this name; the other rows are compared."""
    return f":{ROWS_OF}" in case or f":{NOT_FINITE_IN}" in case


def one_thread(case: str) -> bool:
    """Return whether a case of this name runs in one thread, as the golden was recorded, so that bits can be equal."""
    return IN_THREADS not in case


def read_cases(tensors: Mapping[str, Array], described: Iterable[Mapping[str, Any]]) -> tuple[GoldenCase, ...]:
    """The recorded cases, from the goldens by their keys and from what the manifest says of each case.

    The manifest is believed where it only closes a gate or asks for less, and where nothing shows it: the method, the
    norms of a whole output of which a sample is kept, and the float32 runs beside eager's, which are bounded.

    Raises:
        KeyError: a tensor is not there.
        ValueError: the tensors do not fit each other, or not what is said of them.
    """
    cases = _constants_kept([_read_case(tensors, one) for one in described])
    plain = [case for case in cases if promised(case.name)]
    bounded = []
    for case in cases:
        outputs = {
            name: _bounded(output, [one.outputs[name] for one in plain]) for name, output in case.outputs.items()
        }
        bounded.append(replace(case, outputs=outputs))
    return tuple(bounded)


def _constants_kept(cases: Sequence[GoldenCase]) -> list[GoldenCase]:
    """What is said to hang on no value does only if the recorded numbers bear it out, and one that tells."""
    kept = []
    for case in cases:
        outputs = {name: _as_borne_out(name, case, cases) for name in case.outputs}
        kept.append(replace(case, outputs=outputs))
    return kept


def _as_borne_out(name: str, case: GoldenCase, cases: Sequence[GoldenCase]) -> GoldenOutput:
    output, everywhere = case.outputs[name], [golden.outputs[name] for golden in cases]
    alike = all(_same_numbers(golden, output) for golden in everywhere)
    constant = alike and all(golden.constant for golden in everywhere)
    sized = not constant and all(golden.sized for golden in everywhere) and _by_sizes(name, cases)
    settled = output.settled and _settled(name, case, cases)
    gate = output.gate
    if constant and not output.exact and not output.eager.any():
        gate = ALL_ZERO
    elif sized and alike:
        gate = gate or SAME_AT_ALL_SIZES
    elif not (sized or settled or output.exact or output.scale[0] >= SMALLEST_SCALE) and output.eager.size:
        gate = gate or ZERO.format(output.scale[0])
    return replace(output, constant=constant, sized=sized, settled=settled, gate=gate)


def _by_sizes(name: str, cases: Sequence[GoldenCase]) -> bool:
    """Return whether an output is the same in all cases of the same sizes."""
    first: dict[tuple[tuple[str, int], ...], GoldenOutput] = {}
    return all(
        _same_numbers(first.setdefault(tuple(sorted(case.dims.items())), case.outputs[name]), case.outputs[name])
        for case in cases
    )


def _settled(name: str, case: GoldenCase, cases: Sequence[GoldenCase]) -> bool:
    """Return whether an output is one number at the sizes of a case, and tells at other ones that are promised."""
    output = case.outputs[name]
    same = [golden.outputs[name] for golden in cases if golden.dims == case.dims]
    other = [golden.outputs[name] for golden in cases if promised(golden.name) and golden.dims != case.dims]
    telling = [golden for golden in other if golden.eager.any() and not (golden.gate or golden.settled)]
    zero = not output.eager.any()
    return bool(telling) and all(_one_number(golden) and golden.eager.any() != zero for golden in same)


def _one_number(output: GoldenOutput) -> bool:
    return bool(output.eager.size) and bool((output.eager == output.eager.flat[0]).all())


def _same_numbers(output: GoldenOutput, other: GoldenOutput) -> bool:
    return (output.shape, output.dtype, output.eager.tobytes()) == (other.shape, other.dtype, other.eager.tobytes())


def _read_case(tensors: Mapping[str, Array], described: Mapping[str, Any]) -> GoldenCase:
    case, outputs = described["name"], {}
    inputs = [value.dtype.name for key, value in tensors.items() if key.startswith(f"{case}/input/")]
    for name, about in described["outputs"].items():
        eager, index = tensors[f"{case}/eager/{name}"], tensors.get(f"{case}/index/{name}")
        truth = tensors[f"{case}/truth/{name}"] if eager.dtype.kind == "f" else eager
        partial = Partial(eager, index) if may_be_partial(case) else None
        shape, size = tuple(about["shape"]), math.prod(about["shape"])
        fits = eager.shape == (shape if index is None else index.shape) and truth.shape == eager.shape
        inside = index is None or (index.ndim == 1 and bool(((index >= 0) & (index < size)).all()))
        if not fits or not inside or eager.dtype.name != about["dtype"]:
            raise ValueError(f"'{name}' of case '{case}' is not what the manifest says of it")
        counts = None if partial is None else counting(eager, truth)
        if counts is not None and not counts.all():
            places = np.flatnonzero(counts)
            eager, truth = eager.ravel()[places], truth.ravel()[places]
            index = places if index is None else index[places]
        outputs[name] = _measured(
            GoldenOutput(
                name=name,
                dtype=eager.dtype.name,
                shape=shape,
                eager=eager,
                truth=truth,
                index=index,
                scale=(about["scale_max"], about["scale_l2"]),
                e_ref=(about["e_ref_max"], about["e_ref_l2"]),
                gate=about["gate"],
                draw=case.partition(":")[0],  # what probes is made from the case that it is named after
                scores=_scores(tensors, case, eager, about),
                allowance=min(about.get("allowance", 1.0), LARGEST_ALLOWANCE),
                slack=CONSTANT_TIMES if case.endswith(CONSTANT) or may_be_partial(case) else 1.0,
                wide=eager.dtype.name == "float64" and not {"float16", "float32"}.intersection(inputs),
                central=about["method"].startswith(SPREAD),
                partial=partial,
                constant=about.get("constant", False) is True,
                sized=about.get("sized", False) is True,
                settled=about.get("settled", False) is True,
            )
        )
    return GoldenCase(case, described["dims"], outputs, case)


def _measured(output: GoldenOutput) -> GoldenOutput:
    """With the scale of the truth and eager's error in it, and why nothing can be proven by it: computed.

    Of a sample only bounds are known: the whole is no smaller than its largest element, nor its largest error.
    """
    if output.exact or output.gate or not output.eager.size:
        return output
    if not (np.isfinite(output.eager).all() and np.isfinite(output.truth).all()):
        return replace(output, gate="eager or float64 is not finite")
    own, off = norms(output.truth), norms(unrounded(output.truth, output.eager) - output.truth)
    scale = (max(output.scale[0], own[0]), output.scale[1]) if output.sampled else own
    if (output.sized or output.settled) and not (output.eager.any() or output.truth.any()):
        return replace(output, scale=(0.0, 0.0), e_ref=(0.0, 0.0))  # any other number is infinitely far from it
    if not scale[0] >= SMALLEST_SCALE:
        return replace(output, scale=scale, gate=ZERO.format(scale[0]))
    if not scale[1] > 0:
        raise ValueError(f"'{output.name}' has no size to measure errors by")
    share = off[0] / scale[0], off[1] / own[1]
    for norm in (0,) if output.sampled else (0, 1):
        if share[norm] > max(OTHER_ROUNDING * output.e_ref[norm], output.floor):
            gate = (
                f"eager is off by {share[norm]:.1e}, and its e_ref is {output.e_ref[norm]:.1e}: not what was recorded"
            )
            return replace(output, scale=scale, own=share, gate=gate)
    e_ref = max(output.e_ref[0], share[0]), max(output.e_ref[1], 0.0 if output.sampled else share[1])
    gate = "" if 4 * max(*e_ref, FLOOR) <= WORST_E_REF else f"rounding alone moves it by {max(e_ref):.1e} of its size"
    return replace(output, scale=scale, e_ref=e_ref, own=share, gate=gate)


def _bounded(output: GoldenOutput, plain: Sequence[GoldenOutput]) -> GoldenOutput:
    """Close the gate where e_ref is said to be larger than rounding explains."""
    if output.exact or output.gate or not output.eager.size:
        return output
    usual = [one for one in plain if one is not output and not (one.exact or one.gate)] + [output]
    most = E_REF_TIMES * max(1.0, MANY / sum(one.eager.size for one in usual))
    largest = [max(output.floor, *(one.own[norm] for one in usual)) for norm in (0, 1)]
    times = max(output.e_ref[norm] / largest[norm] for norm in (0, 1))
    if times <= most:
        return output
    return replace(output, gate=f"its e_ref is {times:.3g} times what eager errs, which rounding does not explain")


def _scores(tensors: Mapping[str, Array], case: str, labels: Array, about: Mapping[str, Any]) -> tuple[str, int] | None:
    """The scores whose argmax the labels are, if they are it."""
    if not about.get("scores"):
        return None
    output, axis = about["scores"]["output"], about["scores"]["axis"]
    scores = tensors.get(f"{case}/eager/{output}")
    return (output, axis) if scores is not None and is_argmax(labels, scores, axis) else None


def is_argmax(labels: Array, scores: Array, axis: int) -> bool:
    """Return whether labels are the argmax of scores along an axis, which may be kept as one of size 1."""
    if not 0 <= axis < scores.ndim or scores.dtype.kind != "f":
        return False
    reduced = (*scores.shape[:axis], *scores.shape[axis + 1 :])
    kept = (*scores.shape[:axis], 1, *scores.shape[axis + 1 :])
    if scores.shape[axis] < 2 or labels.shape not in (reduced, kept) or not np.isfinite(scores).all():
        return False
    return bool(np.array_equal(labels.reshape(reduced), scores.argmax(axis)))
