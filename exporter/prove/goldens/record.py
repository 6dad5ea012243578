"""Record the goldens of a spec: the cases, planned here and drawn in a child, and the float64 truth of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from exporter.base.errors import ChildCrashed, ChildOutOfMemory, ChildTimedOut, ModelError
from exporter.export.lower.base import Artifact
from exporter.export.lower.convert import Conversion
from exporter.process.answers import Event
from exporter.process.scratch import scratch
from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting, call
from exporter.prove.goldens.cases import Case, mask_cases, plan_cases
from exporter.prove.goldens.decoding import finish_decoding
from exporter.prove.goldens.finish import CaseFacts, finish
from exporter.prove.goldens.masks import masks_in, program_of
from exporter.spec.model import Spec, Waiver

#: How the child calls what it does while it tries inputs that nobody promised.
SEARCHING = "searching for unreached lines"
#: What to do about a promised case on which eager does not run.
NARROW = "narrow what the dims and values of the spec promise to what forward takes"


@dataclass(frozen=True)
class Record:
    """What the manifest says of the recorded cases; of those left out, with the reason; and of the model.

    `untelling` are those of the latter that were recorded, and in which even eager tells nothing. `decoding` are the
    steps of a decoder, in a file of their own.
    """

    cases: tuple[CaseFacts, ...]
    left_out: Mapping[str, str]
    notes: tuple[str, ...]
    untelling: tuple[CaseFacts, ...] = ()
    decoding: tuple[CaseFacts, ...] = ()


@dataclass(frozen=True)
class Exported:
    """What was exported: the outputs' names in `forward`'s order, and the digest of each of the layer's tensors.

    `program` is a written file, that tells how inputs are used. `constants` are the outputs that no input decides,
    `sized` those that nothing but sizes decides.
    """

    outputs: Sequence[str]
    parameters: Mapping[str, str] = field(default_factory=dict)
    program: Path | None = None
    constants: Sequence[str] = ()
    sized: Sequence[str] = ()

    @classmethod
    def written(
        cls,
        folder: Path,
        artifacts: Sequence[Artifact],
        outputs: Sequence[str],
        parameters: Mapping[str, str],
        constants: Sequence[str],
        sized: Sequence[str] = (),
    ) -> Exported:
        """What lies in a folder."""
        return cls(outputs, parameters, program_of(folder, artifacts), constants, sized)

    @classmethod
    def converted(cls, folder: Path, conversion: Conversion) -> Exported:
        """What was written into a folder just now."""
        return cls.written(
            folder,
            conversion.artifacts,
            conversion.output_names,
            conversion.parameters,
            conversion.constants,
            conversion.sized,
        )

    def masks(self, spec: Spec) -> tuple[str, ...]:
        """The inputs of real numbers with a declared range that are used as masks."""
        real = [name for name, declared in spec.inputs.items() if declared.values.startswith("uniform")]
        return masks_in(self.program, list(spec.inputs), real) if real and self.program else ()


@dataclass(frozen=True)
class VerdictSettings:
    """What nothing but the verdict depends on in a spec: see :data:`exporter.spec.model.ONLY_VERDICT`."""

    budget: float
    engines: tuple[str, ...]
    version: str | None
    waivers: tuple[Waiver, ...]

    @classmethod
    def of(cls, spec: Spec) -> VerdictSettings:
        """Those of a spec."""
        return cls(spec.budget, spec.engines, spec.version, spec.waivers)

    def put_into(self, spec: Spec) -> Spec:
        """Return the spec with these settings."""
        return spec.model_copy(update=vars(self))


@dataclass(frozen=True)
class RecordRequest:
    """What is to be recorded, into which folder.

    What is remembered of an answer does not depend on `beside`. `parameters` are those that were exported, `fatal`
    cases that killed a child, with the reason. With `search` other inputs are tried than those of the planned cases.
    `masks` are inputs of real numbers that the program uses as such.
    """

    spec: Spec
    checkpoint: Path | None
    outputs: tuple[str, ...]
    into: Path
    parameters: Mapping[str, str] = field(default_factory=dict)
    fatal: Mapping[str, str] = field(default_factory=dict)
    search: bool = True
    beside: VerdictSettings | None = None
    constants: tuple[str, ...] = ()
    sized: tuple[str, ...] = ()
    masks: tuple[str, ...] = ()

    def further(self) -> list[Case]:
        """The cases that the spec does not plan: rows of what is used as a mask."""
        return [case for name in self.masks for case in mask_cases(self.spec, name)]


@dataclass(frozen=True)
class RecordedCase:
    """A case whose arrays lie in the folder, and how the truth of each of its outputs was computed.

    `settled` are outputs that every draw at its sizes gives alike.
    """

    name: str
    dims: Mapping[str, int]
    seed: int
    methods: Mapping[str, str]
    settled: tuple[str, ...] = ()


@dataclass(frozen=True)
class RecordAnswer:
    """What was recorded: case N lies in `<N>.safetensors`.

    `unstable` says why eager cannot be trusted in a case, `tied` which operators chose between equal elements, and
    `left_out` why a case was not recorded. `found` are those that the spec does not plan. `whole` is False where the
    promised cases tell nothing, so that the rest was not recorded. Step N of `decoding` lies in
    `decoding-<N>.safetensors`.
    """

    cases: tuple[RecordedCase, ...]
    unstable: Mapping[str, str]
    tied: Mapping[str, str]
    left_out: Mapping[str, str]
    notes: tuple[str, ...]
    found: tuple[str, ...]
    whole: bool
    decoding: tuple[RecordedCase, ...] = ()


@dataclass
class _Step:
    """What the child does, and on which case."""

    doing: str = ""
    case: str | None = None


def record(spec: Spec, checkpoint: Path | None, exported: Exported, into: Path, setting: Setting) -> Record:
    """Write the goldens of what was exported to the file `into`.

    Raises:
        UsageError: samples or values do not fit the inputs.
        ModelError: the eager layer fails on a case that the spec promises, or the factory gives other weights now.
    """
    setting.say("recording goldens")
    with scratch() as place:
        answer = _asked(spec, checkpoint, exported, place, setting)
        kept = finish(spec, answer, place, into, exported.constants, exported.sized)
        steps = finish_decoding(spec, answer.decoding, place, into)
    recorded = [case.name for case in kept.cases]
    planned = [*(case.name for case in plan_cases(spec)), *answer.found]
    if answer.whole and sorted([*recorded, *kept.left_out]) != sorted(planned):
        raise ModelError(
            "not every planned case was recorded", where=str(into), hint="report it: this is a bug of ours"
        )
    return Record(kept.cases, kept.left_out, (*kept.notes, *answer.notes), kept.untelling, steps)


def _asked(spec: Spec, checkpoint: Path | None, exported: Exported, into: Path, setting: Setting) -> RecordAnswer:
    """The answer of the child; of a further one, if one died of an input that nobody promised."""
    step = _Step()
    given_up: list[str] = []

    def follow(event: Event) -> None:
        step.doing, step.case = event["doing"], event.get("case")
        if setting.on_event:
            setting.on_event(event)

    request = RecordRequest(
        spec.without_verdict(),
        checkpoint,
        tuple(exported.outputs),
        into,
        parameters=dict(sorted(exported.parameters.items())),  # one order, of what is remembered too
        beside=VerdictSettings.of(spec),
        constants=tuple(exported.constants),
        sized=tuple(exported.sized),
        masks=exported.masks(spec),
    )
    probing = {case.name for case in (*plan_cases(spec), *request.further()) if case.kind}
    while True:
        try:
            answer = _call(request, replace(setting, on_event=follow))
        except (ChildCrashed, ChildTimedOut, ChildOutOfMemory) as error:
            if step.doing.startswith(SEARCHING) and request.search:
                given_up = [f"the search for inputs that reach other lines was given up: {error.what}"]
                request = replace(request, search=False)
            elif step.case is not None and step.case in probing and step.case not in request.fatal:
                why = f"eager does not survive it: {error.what}"
                request = replace(request, fatal={**request.fatal, step.case: why})
            else:
                error.hint = f"{NARROW}; --debug shows what the child said last" if step.case else error.hint
                raise
        else:
            return replace(answer, notes=(*given_up, *answer.notes))


def _call(request: RecordRequest, setting: Setting) -> RecordAnswer:
    from exporter.prove.goldens import child

    return call(
        child.record,
        request,
        setting.limits,
        environment=SINGLE_THREAD,
        imports=PADDLE,
        on_event=setting.on_event,
    )
