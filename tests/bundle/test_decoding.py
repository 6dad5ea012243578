"""Recorded steps of a decoder are those that the spec plans, whatever a manifest says of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from exporter.base.errors import BundleError
from exporter.base.tensors import Array, load, save
from exporter.bundle.decoding import rollout_in
from exporter.bundle.manifest import CaseFacts, Content, Tensor
from exporter.prove.compare.golden import refuse_other_samples
from exporter.prove.goldens.decoding import DECODING, Rollout
from exporter.spec.model import Spec
from tests.prove.goldens.rollouts import OUTPUTS, STEPS, recorded, spec


class Folder:
    """A bundle's folder with its steps, and what its manifest says of them."""

    def __init__(self, place: Path, width: int = 5, **more: Any) -> None:
        self.place, self.spec = place, spec(**more)
        self.facts = tuple(CaseFacts.model_validate(asdict(case)) for case in recorded(self.spec, place, width))

    def read(self, facts: tuple[CaseFacts, ...] | None = None, of: Spec | None = None) -> Rollout | None:
        outputs = tuple(Tensor(name=name, dtype="float32", shape=()) for name in OUTPUTS)
        content = Content.model_construct(decoding=self.facts if facts is None else facts, outputs=outputs)
        return rollout_in(content, of or self.spec, self.place / "golden.safetensors")

    def change(self, key: str, change: Callable[[Array], Array] | None) -> None:
        """Write one tensor otherwise, or leave it out."""
        held = load(self.place / DECODING)
        tensor = held.pop(key)
        save(self.place / DECODING, held if change is None else {**held, key: change(tensor)})

    def refused(self, said: str, facts: tuple[CaseFacts, ...] | None = None) -> None:
        with pytest.raises(BundleError) as caught:
            self.read(facts)
        assert said in caught.value.what


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_what_a_release_records_is_read(folder: Folder) -> None:
    rollout = folder.read()
    assert rollout is not None and len(rollout.steps) == STEPS and rollout.emptied.name == "step=3:emptied"


def test_a_sample_of_large_outputs_is_that_of_a_release(tmp_path: Path) -> None:
    large = Folder(tmp_path, 50_000, golden_mb=1.0)
    rollout = large.read()
    assert rollout is not None and rollout.steps[0].outputs["scores"].sampled
    described = [case.model_dump() for case in large.facts]
    with pytest.raises(BundleError, match="kept, not the 65536 that a release takes"):
        refuse_other_samples(tmp_path / DECODING, described, large.spec)  # as of cases, and not of steps
    for name in ("index", "eager", "truth"):
        large.change(f"step=1/{name}/scores", lambda kept: kept[:1024])
    large.refused("of 'step=1/eager/scores' 1024 of 100000 elements are kept, not the 8192 that a release takes")


def test_inputs_leave_less_room_for_samples(tmp_path: Path) -> None:
    scores, others = 5 * 20 * 8193, 5 * 2 * 8 + 2 * 40 * 12  # ids that were chosen, and the keys of the last step
    rollout = Folder(tmp_path, 50_000, golden_mb=(scores + others + 200) / 1e6).read()
    assert rollout is not None and rollout.steps[0].outputs["scores"].eager.size in (4096, 4097)


def test_without_steps_there_is_nothing_to_read_and_without_a_decoder_nothing_to_record(folder: Folder) -> None:
    assert folder.read(()) is None
    plain = spec(decoding=None)
    assert folder.read((), plain) is None
    with pytest.raises(BundleError, match="its spec has none"):
        folder.read(of=plain)


@pytest.mark.parametrize(
    ("at", "change", "said"),
    [
        (1, {"name": "step=2"}, "'step=2' is not the planned 'step=1'"),
        (1, {"seed": 7}, "has another seed or other sizes"),
        (2, {"dims": {"batch": 2, "past": 9}}, "has another seed or other sizes"),
        (1, {"dims": {"batch": 3, "past": 2}}, "has another seed or other sizes"),
        (0, {"outputs": {}}, "holds other outputs than are kept of it"),
        (4, {"name": "step=2:emptied"}, "is not the last step with an empty cache"),
        (4, {"dims": {"batch": 2, "past": 3}}, "is not the last step with an empty cache"),
        (4, {"outputs": {}}, "is not the last step with an empty cache"),
    ],
)
def test_other_steps_than_the_plan_has_are_refused(folder: Folder, at: int, change: dict[str, Any], said: str) -> None:
    facts = list(folder.facts)
    facts[at] = facts[at].model_copy(update=change)
    folder.refused(said, tuple(facts))


def test_more_or_fewer_steps_are_refused(folder: Folder) -> None:
    folder.refused("3 were recorded, and the spec plans 4", folder.facts[1:])
    folder.refused("5 were recorded, and the spec plans 4", (folder.facts[0], *folder.facts))


@pytest.mark.parametrize(
    ("key", "change", "said"),
    [
        ("step=1/input/ids", lambda ids: (ids + 1) % 5, "'ids' of 'step=1' is not what eager chose in the step before"),
        ("step=2/input/at", lambda at: at + 1, "input 'at' of 'step=2' does not count the steps"),
        ("step=3/input/memory", lambda held: held * 2, "input 'memory' of 'step=3' is not that of the first step"),
        ("step=1/input/mask", lambda mask: mask[:, 1:], "input 'mask' of 'step=1' is int64[2, 2]"),
        ("step=0/input/key", lambda key: key.astype("float64"), "input 'key' of 'step=0' is float64[2, 1, 4]"),
        ("step=2/input/mask", None, "step=2/input/mask"),
    ],
)
def test_inputs_that_the_spec_does_not_plan_are_refused(
    folder: Folder, key: str, change: Callable[[Array], Array] | None, said: str
) -> None:
    folder.change(key, change)
    folder.refused(said)
