"""The manifest: what a bundle says of itself. Read strictly, written canonically, guarded by its own digest.

A new key, or another meaning of one, raises `MANIFEST_VERSION`; from the first release on, earlier versions are still
read. A stored bundle of each version lies in tests/data/bundles/ (`python -m tools.stored_bundle`).
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from exporter.base.bounded_json import parse_json
from exporter.base.errors import BundleError, first_fault
from exporter.base.files import canonical_json, readable_json, sha256_bytes
from exporter.base.tensors import dims_in
from exporter.export.lower.base import Artifact, is_program

MANIFEST_VERSION = 1
#: The verdicts under which a bundle may be handed over and used.
RELEASED = ("passed", "passed_with_waivers")
NAME = "manifest.json"
#: The signature over all files, as the command `model_signing` calls it; the one file beside the manifest that is not
#: listed in it.
SIGNATURE = "model.sig"
#: An in-toto statement (SLSA provenance v1), and a bill of materials (CycloneDX 1.6).
PROVENANCE: Final = "provenance.intoto.json"
BOM: Final = "bom.cdx.json"

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


class Tensor(_Frozen):
    """An input or output as the spec calls it; a word in `shape` is a named dim, as `past+1` too, -1 is not known."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]


class _Loose(BaseModel):
    """Known keys are what is said here; others may be anything, and nobody reads them."""

    model_config = ConfigDict(extra="allow", protected_namespaces=(), allow_inf_nan=False)


class _Norm(_Loose):
    gain: str
    variance: str
    epsilon: float


class _Layer(_Loose):
    """How a layer was quantised (`exporter/prove/proofs/quantisation/layers.py`)."""

    axis: Annotated[int, Field(ge=-8, le=8)] = 0
    codes: str
    scales: str = ""
    weight: str
    input: str = ""
    range: tuple[Annotated[int, Field(ge=-256, le=256)], Annotated[int, Field(ge=-256, le=256)]] = (0, 0)
    scale: float = 0.0
    zero_point: Annotated[int, Field(ge=-256, le=256)] = 0
    divisor: Annotated[int, Field(ge=1, le=1 << 16)] = 1
    norm: _Norm | None = None


class _Step(_Loose):
    """One candidate of a search for layers to keep."""

    kept: tuple[str, ...]
    weights_int8: tuple[str, ...] = ()
    weights_fp16: tuple[str, ...] = ()
    bytes: int
    snr_db: float
    speedup: float = 1.0


class _Details(_Loose):
    """What the writers of variants tell, as far as a proof or a report reads it."""

    opset: int | None = None
    opset_asked: int | None = None
    folded: dict[str, tuple[Sha256, ...]] = {}
    computed: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    reach: dict[str, int] = {}
    stateless: bool = False
    layers: dict[str, _Layer] = {}
    front: tuple[_Step, ...] = ()
    kept: tuple[str, ...] = ()
    declared_otherwise: tuple[str, ...] = ()
    budget: dict[str, Any] = {}
    cpu: dict[str, str] = {}


class _Machine(_Loose):
    cpu: str = ""
    abilities: tuple[str, ...] = ()
    system: str = ""


class _Cost(_Loose):
    """What a run of a variant took at the release (`exporter/engines/cost.py`)."""

    seconds: Annotated[float, Field(gt=0, le=1e6)]
    megabytes: Annotated[float, Field(gt=0, le=1e9)]


class _Training(_Loose):
    """What the training told: the metric of the checkpoint on the held-out samples, and its 95 % interval."""

    recipe: str = ""
    metric: dict[str, float] = {}
    interval: tuple[float, float] | None = None


class _Provenance(_Loose):
    """What a bundle tells of its origin, as far as anything reads it."""

    machine: _Machine = _Machine()
    packages: dict[str, str] = {}
    code: dict[str, str] = {}
    weights: dict[str, Any] = {}
    costs: dict[str, _Cost] = {}
    training: _Training = _Training()


def _told_as(kind: type[_Loose]) -> AfterValidator:
    """The same value, if it is one of this kind."""

    def check(value: dict[str, Any]) -> dict[str, Any]:
        kind.model_validate(value)
        return value

    return AfterValidator(check)


class Variant(_Frozen):
    """One artifact: its files, and its own names for the inputs and outputs (`native_outputs` in the file's order).

    `weights` holds the content digest of every tensor that the files store, by the file's name for it, and `origins`
    the layer's own name for those that were taken over as they were.
    """

    format: str
    precision: str
    files: Annotated[tuple[str, ...], Field(min_length=1)]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    native_outputs: tuple[str, ...]
    details: Annotated[dict[str, Any], _told_as(_Details)]
    weights: dict[str, Sha256]
    origins: dict[str, str]

    def artifact(self) -> Artifact:
        """The variant as what engines and proofs work with."""
        return Artifact(
            self.format,
            self.precision,
            self.files,
            self.inputs,
            self.outputs,
            self.native_outputs,
            self.details,
            self.weights,
            self.origins,
        )


class Scores(_Frozen):
    """The float output, and its axis, whose argmax an integer output is."""

    output: str
    axis: int


class GoldenFacts(_Frozen):
    """What is said about one output of one case; see exporter/prove/compare/golden.py."""

    dtype: str
    shape: tuple[int, ...]
    exact: bool
    scale_max: float
    scale_l2: float
    e_ref_max: float
    e_ref_l2: float
    method: str
    gate: str
    scores: Scores | None = None
    allowance: Annotated[float, Field(ge=1)]
    constant: bool = False
    sized: bool = False
    settled: bool = False


class CaseFacts(_Frozen):
    """One recorded case."""

    name: str
    dims: dict[str, int]
    seed: int
    outputs: dict[str, GoldenFacts]


class FileFacts(_Frozen):
    """What guards one file."""

    sha256: Sha256
    size: Annotated[int, Field(ge=0)]


class Documents(_Frozen):
    """The files that tell where a bundle comes from; each has the one name that its kind has."""

    provenance: Literal["provenance.intoto.json"] = PROVENANCE
    bom: Literal["bom.cdx.json"] = BOM


class Content(_Frozen):
    """What the steps of a release put together: all that a bundle says of itself before it is sealed.

    `spec` is the whole spec that made it. `constants` are the outputs that no input decides, `sized` those that nothing
    but sizes decides. `left_out` names the probing cases in which even eager tells nothing, with the reason, and
    `untelling` is what was recorded of them; `notes` are on the model. `decoding` are the steps of a decoder, the last
    of them once more with an empty cache (`exporter/prove/goldens/decoding.py`).
    """

    schema_: Annotated[Literal[1], Field(alias="schema")]
    name: str
    version: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    dims: dict[str, dict[str, int]]
    constants: tuple[str, ...] = ()
    sized: tuple[str, ...] = ()
    budget: float
    variants: Annotated[dict[str, Variant], Field(min_length=1)]
    cases: tuple[CaseFacts, ...]
    left_out: dict[str, str] = {}
    untelling: tuple[CaseFacts, ...] = ()
    decoding: tuple[CaseFacts, ...] = ()
    notes: tuple[str, ...] = ()
    parameters: dict[str, Sha256]
    spec: dict[str, Any]
    provenance: Annotated[dict[str, Any], _told_as(_Provenance)]
    waivers: tuple[dict[str, str], ...]
    not_reproducible: tuple[str, ...]
    documents: Documents | None = None
    verdict: Literal["passed", "passed_with_waivers", "failed", "inconclusive", "unverified"]

    @property
    def released(self) -> bool:
        """Return whether its release passed the gate."""
        return self.verdict in RELEASED

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Content:
        """Whoever seals a manifest can write anything into it; what contradicts itself is refused here, once."""
        self._names_what_it_uses()
        if strange := sorted({*self.constants, *self.sized} - {one.name for one in self.outputs}):
            raise ValueError(f"no output is called '{strange[0]}'")
        inputs, outputs = (sorted(one.name for one in side) for side in (self.inputs, self.outputs))
        for name, one in self.variants.items():
            if name != (one.format if one.precision == "fp32" else f"{one.format}-{one.precision}"):
                raise ValueError(f"variant '{name}' holds {one.format} of precision {one.precision}")
            natives = sorted(one.native_outputs)  # a file may call them otherwise; then none of ours comes out of it
            if sorted(one.inputs) != inputs or sorted(one.outputs) != natives or len(natives) != len(outputs):
                raise ValueError(f"variant '{name}' has other inputs or outputs than the bundle")
            if sum(map(is_program, one.files)) != 1:
                raise ValueError(f"variant '{name}' has not one main file")
        recorded = (*self.cases, *self.untelling)
        for case in recorded:
            if sorted(case.outputs) != outputs:
                raise ValueError(f"case '{case.name}' has other outputs than the bundle")
        if len({case.name for case in recorded}) != len(recorded):
            raise ValueError("two cases have one name")
        if strange := sorted({case.name for case in self.untelling} - set(self.left_out)):
            raise ValueError(f"nothing says why case '{strange[0]}' was left out")
        return self

    def _names_what_it_uses(self) -> None:
        for name, dim in self.dims.items():
            if not {"min", "typical", "max"} <= set(dim):
                raise ValueError(f"dim '{name}' has not its three sizes")
        used = set(dims_in(tensor.shape for tensor in self.inputs))
        if strange := sorted(used - set(self.dims)):
            raise ValueError(f"no dim is called '{strange[0]}'")
        for waiver in self.waivers:
            if set(waiver) != {"claim", "reason", "until"}:
                raise ValueError("a waiver tells a claim, a reason and an end")


class Manifest(Content):
    """Everything a bundle says of itself; the digest guards all the rest."""

    files: dict[str, FileFacts]
    digest: Sha256


def sealed(content: dict[str, Any]) -> bytes:
    """The bytes of a manifest file, with the digest over everything else in it."""
    body = {key: value for key, value in content.items() if key != "digest"}
    return readable_json({**body, "digest": sha256_bytes(canonical_json(body))})


def parse(raw: bytes, where: str) -> Manifest:
    """Read a manifest; every byte counts, so that no flipped bit goes by.

    Raises:
        BundleError: it is not JSON, not canonical, of an unknown schema, or its digest is wrong.
    """
    hint = "do not use this bundle; ask for a fresh one"
    try:
        content = parse_json(raw)
        if not isinstance(content, dict):
            raise ValueError("not an object")
        whole = sealed(content) == raw
    except (ValueError, RecursionError) as error:
        raise BundleError(f"the manifest is damaged: {error}", where=where, hint=hint) from error
    if not whole:
        raise BundleError("the manifest does not match its own digest", where=where, hint=hint)
    if content.get("schema") != MANIFEST_VERSION:
        raise BundleError(
            f"the manifest has schema {content.get('schema')!r}, this exporter reads {MANIFEST_VERSION}",
            where=where,
            hint="use the exporter that wrote it, or a newer one",
        )
    try:
        return Manifest.model_validate_json(raw, strict=True)  # as JSON has the types: 1 is no true, "2" no number
    except ValidationError as error:
        place, fault = first_fault(error)
        raise BundleError(f"the manifest is wrong at {place}: {fault}", where=where, hint=hint) from error
