"""Targets that read the steps of a model beside it: the artifact under the names that a family's runtime looks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import yaml

from exporter.base.errors import UsageError
from exporter.bundle.open import recorded_spec
from exporter.deploy.handoff.base import Chosen, Proof, Target
from exporter.deploy.handoff.step_files import FORMS, Yaml, written
from exporter.process.workers import Limits
from exporter.spec.pipeline import Pipeline
from exporter.steps.chain import Chain


class StepsBeside(Target):
    """`families` are those whose form the file may have, `file` is its name, `stem` that of the artifact's files."""

    formats: ClassVar[tuple[str, ...]] = ("pir", "pdmodel")
    families: ClassVar[Sequence[str]]
    file: ClassVar[str]
    stem: ClassVar[str]
    runtime: ClassVar[str]

    def about(self, chosen: Chosen, content: Yaml) -> Yaml:
        """The file's content, with what this runtime wants to know besides the steps."""
        del chosen
        return dict(content)

    def layout(self, chosen: Chosen) -> Mapping[str, bytes | Path]:
        content = self.about(chosen, self._content(chosen))
        text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, default_flow_style=None)
        files = {f"{self.stem}{path.suffix}": path for path in chosen.files().values()}
        return {self.file: text.encode("utf-8"), **files}

    def prove(self, folder: Path, chosen: Chosen, limits: Limits) -> Proof:
        del chosen, limits
        how = f"{self.runtime} is not run here; {self.file} was read back to the very steps of the bundle"
        return Proof(False, how, generated=str(folder.joinpath(self.file).name))

    def _content(self, chosen: Chosen) -> Yaml:
        before, after = deployment(chosen)
        reasons = []
        for form in (form for family in self.families for form in FORMS[family]):
            try:
                return written(form, before, after)
            except UsageError as error:
                reasons.append(error)
        what = "; ".join(dict.fromkeys(error.what for error in reasons))
        raise UsageError(what, where=reasons[0].where, hint=reasons[0].hint)


def deployment(chosen: Chosen) -> tuple[Chain, Chain]:
    """The steps of the bundle's deployment, before and after the model.

    Raises:
        UsageError: its spec names none, or they are in the graph.
    """
    pipeline: Pipeline | None = recorded_spec(chosen.manifest).pipeline
    if pipeline is None:
        hint = "give the spec a `pipeline`, and release it again"
        raise UsageError("the bundle's spec names no steps around the model", where="pipeline", hint=hint)
    if pipeline.fold:
        what = "its steps are in the graph, and the runtime would take them again"
        hint = "release the model without `fold`, or hand it to another target"
        raise UsageError(what, where="pipeline.fold", hint=hint)
    return pipeline.deployed()
