"""From what a manifest says to what the proofs judge; what can be computed or planned again is not believed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from exporter.base.bounded_json import read_json
from exporter.base.errors import BundleError
from exporter.base.files import total_size
from exporter.base.readers.undecided import Reach, reach_in_all
from exporter.base.tensors import TensorSpec, shape_at
from exporter.bundle.decoding import rollout_in
from exporter.bundle.layout import GOLDEN, REPORT
from exporter.bundle.left_out import Recorded
from exporter.bundle.manifest import CaseFacts, Content, Manifest
from exporter.bundle.open import Bundle
from exporter.bundle.provenance import unlike_the_recorded
from exporter.bundle.scripts import same_code
from exporter.engines.cost import by_size
from exporter.prove.compare.golden import input_shapes, one_case, read_goldens
from exporter.prove.goldens.cases import Case
from exporter.prove.goldens.record import Exported
from exporter.prove.judge.judge import About
from exporter.prove.proofs.base import Subject
from exporter.prove.verdict.claim import OUTPUTS, Claim
from exporter.spec.model import Spec

_HINT = "do not use this bundle; ask for a fresh one"
#: What plans the claims, and the names of one.
_PLANNING = ("exporter/prove/", "exporter/spec/", "exporter/base/numbers/", "exporter/engines/")
_NAMES = tuple(field.name for field in fields(Claim))
#: Values in a report: 25 for each claim.
MOST_REPORTED = 1_000_000


def subject_of(
    bundle: Bundle, spec: Spec, device: str, checkpoint: Path | None = None, no_source: str = "", case: str = ""
) -> Subject:
    """Return what is judged of a sealed bundle; raise as :func:`subject_in` does."""
    golden = bundle.folder / GOLDEN
    return subject_in(bundle.manifest, spec, (bundle.folder, golden), device, checkpoint, no_source, case)


def subject_in(  # noqa: PLR0913 - what is at hand of the origin comes one by one
    content: Content,
    spec: Spec,
    places: tuple[Path, Path],
    device: str,
    checkpoint: Path | None = None,
    no_source: str = "",
    case: str = "",
    takes_its_word: bool = False,
) -> Subject:
    """What is judged of a folder and its goldens (`places`); of its cases only `case`, where one is named.

    Raises:
        UsageError: no such case was recorded.
        BundleError: the goldens are not whole, or are not those of the cases that the spec plans.
    """
    folder, golden = places
    constants, sized = without_values(content, folder)
    described = [_shown_in(facts, constants, sized).model_dump() for facts in content.cases]
    only = str(one_case(described, case)["name"]) if case else ""
    untelling = [_shown_in(facts, constants, sized) for facts in content.untelling]
    of_cases = (*(_shown_in(facts, constants, sized) for facts in content.cases), *untelling)
    kept = Recorded(content, spec, folder, golden, of_cases)
    planned = kept.planned
    for facts in of_cases:
        _refuse_other(facts, planned.get(facts.name))
    recorded = read_goldens(golden, described)
    _refuse_other_inputs(spec, golden, content)
    kept.refuse_other()
    word = kept.unshown()
    unshown = {} if takes_its_word or not isinstance(content, Manifest) else word
    lacking = [name for name in planned if name not in {facts.name for facts in content.cases}]
    return Subject(
        spec=spec,
        folder=folder,
        golden=golden,
        outputs=tuple(TensorSpec(output.name, output.dtype, output.shape) for output in content.outputs),
        artifacts={name: variant.artifact() for name, variant in content.variants.items()},
        parameters=content.parameters,
        recorded=recorded,
        rollout=rollout_in(content, spec, golden),
        only=only,
        passed=content.released,
        missing=() if case else tuple(name for name in lacking if not _may_lack(planned[name], content, unshown)),
        unshown={} if case else unshown,
        checkpoint=checkpoint,
        no_source=no_source,
        device=device,
        released_on=tuple(content.provenance.get("machine", {}).get("abilities", ())),
        costs=_costs(content, spec, places, no_source),
        constants=content.constants,
        sized=content.sized,
        hashes={name: facts.sha256 for name, facts in content.files.items()} if isinstance(content, Manifest) else {},
    )


def exported_in(content: Content, folder: Path) -> Exported:
    """Return what was exported into a folder that holds no goldens yet, for them to be recorded."""
    artifacts, names = (
        [variant.artifact() for variant in content.variants.values()],
        [output.name for output in content.outputs],
    )
    return Exported.written(folder, artifacts, names, content.parameters, *without_values(content, folder))


def without_values(content: Content, folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The outputs that are said to be decided by no input, and by sizes alone, as far as every file shows it.

    Raises:
        BundleError: a file is damaged.
    """
    if not (content.constants or content.sized):
        return (), ()
    reached = reach_in_all(folder / variant.artifact().main for variant in content.variants.values())
    constants, sized = (
        tuple(sorted(name for name in names if reached.get(name, Reach.VALUES) <= most))
        for names, most in ((content.constants, Reach.NOTHING), (content.sized, Reach.SIZES))
    )
    return constants, sized


def _shown_in(case: CaseFacts, constants: Sequence[str], sized: Sequence[str]) -> CaseFacts:
    """Mark as hanging on no value only those outputs of a case that are shown to."""
    outputs = {
        name: output.model_copy(
            update={"constant": output.constant and name in constants, "sized": output.sized and name in sized}
        )
        for name, output in case.outputs.items()
    }
    return case.model_copy(update={"outputs": outputs})


def _costs(
    content: Content, spec: Spec, places: tuple[Path, Path], no_source: str
) -> Mapping[str, Mapping[str, float]]:
    """What each run took at the release; where a sealed bundle does not tell, what one of its size is taken to cost.

    What is being released, or verified for the first time by its own source, has no such limit.
    """
    costs: Mapping[str, Mapping[str, float]] = content.provenance.get("costs", {})
    first = not isinstance(content, Manifest) or (content.verdict == "unverified" and not no_source)
    if costs or first:
        return costs
    folder, golden = places
    return {
        f"{name}/{engine}": by_size(total_size([golden, *(folder / file for file in variant.files)]) / (1 << 20))
        for name, variant in content.variants.items()
        for engine in spec.engines
    }


def _may_lack(case: Case, content: Content, unshown: Mapping[str, str]) -> bool:
    """Only a case that probes may be left out, and something shows why."""
    return bool(case.kind) and case.name in content.left_out and case.name not in unshown


def _refuse_other(facts: CaseFacts, planned: Case | None) -> None:
    """The seed and the sizes of a planned case are those of the plan: cases of one seed count as related."""
    if planned is None:
        if ":" in facts.name:  # found by a search, or by the plan of another version
            return
        raise BundleError(f"case '{facts.name}' is none that the spec plans", where=GOLDEN, hint=_HINT)
    if facts.seed != planned.seed or facts.dims != dict(planned.dims):
        raise BundleError(f"case '{facts.name}' has another seed or size than the spec plans", where=GOLDEN, hint=_HINT)


def _refuse_other_inputs(spec: Spec, golden: Path, content: Content) -> None:
    """The recorded inputs have the sizes of their case."""
    shapes = input_shapes(golden)
    for facts in content.cases:
        for tensor in spec.input_specs():
            wanted = shape_at(tensor.shape, {**dict.fromkeys(content.dims, -1), **facts.dims})
            if shapes.get(f"{facts.name}/input/{tensor.name}") != wanted:
                raise BundleError(
                    f"input '{tensor.name}' of case '{facts.name}' is not of the size {list(wanted)}",
                    where=str(golden),
                    hint=_HINT,
                )


def objections(bundle: Bundle) -> tuple[str, ...]:
    """Return what the bundle's report and verdict say against it; empty for one that is not verified yet."""
    manifest = bundle.manifest
    if manifest.verdict == "unverified":
        return ()
    if not manifest.released:
        return (f"the verdict of its release was {manifest.verdict}",)
    contradiction = _report(bundle.folder / REPORT, manifest)
    return (f"its {REPORT} is not the report of such a release: {contradiction}",) if contradiction else ()


def unreported(bundle: Bundle, plan: Collection[Claim]) -> tuple[str, ...]:
    """Return what the bundle's report lacks of the claims that are planned here.

    Where other code planned them it is asked for the outputs of what was recorded, which every release compares.
    """
    if bundle.manifest.verdict == "unverified":
        return ()
    if not same_code(bundle.folder, *_PLANNING):
        recorded = {case.name for case in bundle.manifest.cases}
        plan = [claim for claim in plan if claim.kind == OUTPUTS and claim.case in recorded]
    checks = read_json(bundle.folder / REPORT, MOST_REPORTED)["checks"]
    reported = {tuple(str(check.get(name)) for name in _NAMES) for check in checks}
    lacking = sorted(claim for claim in plan if tuple(getattr(claim, name) for name in _NAMES) not in reported)
    return (f"its {REPORT} tells nothing of {lacking[0]}, which its spec plans",) if lacking else ()


def unfit(bundle: Bundle) -> str:
    """Return why a bundle did not pass the gate; empty if it did.

    Whoever seals a bundle again can state any verdict in its manifest: the report in it has to bear that out.
    """
    if not bundle.manifest.released:
        return f"its verdict is {bundle.manifest.verdict}"
    return next(iter(objections(bundle)), "")


def refuse_contradiction(bundle: Bundle) -> None:
    """Refuse a bundle that says of itself that it passed, and whose report does not; one that says it failed is none.

    Raises:
        BundleError: it does.
    """
    if bundle.manifest.released and (why := unfit(bundle)):
        raise BundleError(why, where=str(bundle.folder), hint=_HINT)


def _report(path: Path, manifest: Manifest) -> str:
    """Return what is wrong with the stored report; empty if nothing is."""
    try:
        report = read_json(path, MOST_REPORTED)
        outcomes = [check["outcome"] for check in report["checks"]]
        verdict, planned = report["verdict"], report["planned"]
    except (BundleError, KeyError, TypeError) as error:
        return f"it cannot be read ({type(error).__name__}: {error})"
    return _contradiction(manifest, {"verdict": verdict, "planned": planned}, outcomes)


def _contradiction(manifest: Manifest, said: Mapping[str, object], outcomes: list[str]) -> str:
    if said["verdict"] != manifest.verdict:
        return f"it says {said['verdict']}, and the manifest {manifest.verdict}"
    if not outcomes or said["planned"] != len(outcomes):
        return f"{said['planned']} claims were planned, and it holds {len(outcomes)}"
    if bad := [outcome for outcome in outcomes if outcome not in ("match", "waived")]:
        return f"it holds a claim that ended in {bad[0]}"
    if ("waived" in outcomes) != (manifest.verdict == "passed_with_waivers"):
        return f"it holds {outcomes.count('waived')} waived claims, and the manifest says {manifest.verdict}"
    return ""


def about(content: Content, notes: Sequence[str] = (), digest: str = "", device: str = "cpu") -> About:
    """Return what a report says of a bundle on `device` besides its claims; `notes` come first."""
    methods = {output.method for case in content.cases for output in case.outputs.values()}
    return About(
        name=content.name,
        version=content.version,
        digest=digest,
        unlike=unlike_the_recorded(content.provenance, device),
        notes=(*notes, *open_ends(content)),
        methods=tuple(sorted(methods)),
    )


def open_ends(content: Content) -> tuple[str, ...]:
    """Sentences on what the release could not show of the model."""
    left_out = [
        f"the probing case {name} tells nothing and was left out: {why}" for name, why in content.left_out.items()
    ]
    return (*content.notes, *left_out)
