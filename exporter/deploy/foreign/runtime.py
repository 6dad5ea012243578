"""A runtime of devices as a target: convert the ONNX, run every recorded case, judge, and only then hand over.

What is handed over is a kit (:mod:`exporter.deploy.elsewhere`) whose model is the runtime's own file, so the same
program answers on the device, and `exporter verify --answers` judges by the same rule what comes back.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from exporter.base.errors import ModelError, UsageError, did_you_mean
from exporter.base.files import readable_json, write_json
from exporter.bundle.received import Receiver
from exporter.deploy.elsewhere.cases import Wanted
from exporter.deploy.elsewhere.cases import chosen as selected_of
from exporter.deploy.elsewhere.content import KitCase, Part
from exporter.deploy.elsewhere.judge import Wish, judge_elsewhere
from exporter.deploy.elsewhere.kit import ANSWERS, about_kit, layer_files, outputs_of, recorded_files
from exporter.deploy.foreign.program import Program
from exporter.deploy.handoff.base import Chosen, Proof, Target
from exporter.process.scratch import scratch
from exporter.process.workers import Limits, Setting
from exporter.prove.judge.report import Report
from exporter.prove.verdict.claim import Outcome

PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True)
class Plan:
    """What is asked of a runtime: the precision, and the cases that it is run on, as a kit narrows them."""

    precision: str
    wanted: Wanted

    @property
    def partial(self) -> str:
        """To what the promise is narrowed; empty where it is not."""
        return str(self.wanted)


class ForeignRuntime(Target):
    """A runtime that installs here and on devices; `title` is its name, `requirements` what pip installs.

    `precisions` are those that it makes of a float32 variant. A runtime that is not `dynamic` takes one size of each
    named dim, and is handed over for that one alone.
    """

    formats = ("onnx",)
    on_device = True
    title: ClassVar[str]
    requirements: ClassVar[tuple[str, ...]]
    precisions: ClassVar[tuple[str, ...]] = ("fp32",)
    dynamic: ClassVar[bool] = True

    def layout(self, chosen: Chosen) -> Mapping[str, bytes | Path]:
        plan = self.planned(chosen)
        manifest, variant = chosen.manifest, chosen.variant
        cases = [(number, case.name) for number, case in selected_of(manifest.cases, plan.wanted)]
        files, selected = recorded_files(chosen.bundle, chosen.name, cases, headers=False)
        files |= self.programs(chosen)
        with scratch() as place:
            program = self._program(place, chosen, chosen.limits)
            for name, path in chosen.files("source/").items():  # pnnx writes beside what it reads
                (place / name).parent.mkdir(exist_ok=True)
                shutil.copyfile(path, place / name)
            source = place / "source" / chosen.program.name
            converted, main = self._converted(program, source, place / "model", plan, selected)
        files |= {f"model/{name}": content for name, content in converted.items()}
        part: Part = {
            "model": f"model/{main}", "answers": ANSWERS, "cases": selected, "outputs": outputs_of(manifest, variant)
        }  # fmt: skip
        about = about_kit(manifest, chosen.name, part)
        more, facts = self.beside(chosen, plan)
        files |= more
        files["kit.json"] = readable_json({**about, "runtime": self._told(plan), **facts})
        return files

    def prove(self, folder: Path, chosen: Chosen, limits: Limits) -> Proof:
        plan = self.planned(chosen)
        with scratch() as place:
            program = self._program(folder.resolve(), chosen, limits)
            version = program.version(place)
            program.run(place, "runs the model", "--kit", str(folder.resolve()), "--out", str(place / ANSWERS))
            engine = f"{self.title} {version}"
            wish = Wish(place / ANSWERS, engine, plan.wanted, plan.precision, chosen.name)
            receiver, setting = Receiver(chosen.accepts_waivers, knows_the_maker=True), Setting(limits)
            report = judge_elsewhere(chosen.bundle.folder, wish, setting, receiver)
            if not report.verdict.passed:
                if plan.precision == "fp32" and self._answered_layers(chosen, place, plan):
                    report = judge_elsewhere(chosen.bundle.folder, replace(wish, layers=True), setting, receiver)
                raise refusal(report, engine)
        return Proof(True, f"{engine} on this CPU, {plan.precision}: {said_of(report)}", partial=plan.partial)

    def planned(self, chosen: Chosen) -> Plan:
        """Plan what is asked of the runtime.

        Raises:
            UsageError: it does not compute in this precision, or no recorded case has the sizes.
        """
        own, wanted = chosen.variant.precision, chosen.device.precision
        able = self.precisions if own == "fp32" else (own,)
        if wanted and wanted not in able:
            hint = f"{did_you_mean(wanted, able)}; or release the bundle with this precision and name its --variant"
            what = f"{self.title} does not make {wanted} of the variant {chosen.name}"
            raise UsageError(what, where="--precision", hint=hint)
        sizes = dict(chosen.device.sizes)
        if not self.dynamic:
            best = selected_of(chosen.manifest.cases, Wanted(1, sizes))[0][1]
            sizes = {name: size for name, size in best.dims.items() if name in chosen.manifest.dims}
        if sizes:
            selected_of(chosen.manifest.cases, Wanted(0, sizes))
        return Plan(wanted or own, Wanted(0, sizes or None))

    def programs(self, chosen: Chosen) -> dict[str, bytes | Path]:
        """The programs that run the model, by their names in the folder."""
        return {"run.py": _source("run"), "engine.py": _source(type(self).__module__.rpartition(".")[2])}

    def command(self, folder: Path, chosen: Chosen, limits: Limits) -> Program:
        """How the programs in a folder are called.

        Raises:
            UsageError: what `--using` names is no program.
        """
        python = str(chosen.device.using or sys.executable)
        if not os.access(python, os.X_OK) or Path(python).is_dir():
            raise UsageError("is no program", where=f"--using {python}", hint="name a Python, as venv/bin/python")
        packages = " ".join(self.requirements)
        cure = f"install it with pip install {packages}; or name another environment's with --using PATH/bin/python"
        return Program(self.title, (python, "-s", "-E", "-B", str(folder / "run.py")), limits, cure)

    def beside(self, chosen: Chosen, plan: Plan) -> tuple[dict[str, bytes], dict[str, object]]:
        """Further files of the folder, and what kit.json says of them."""
        del chosen, plan
        return {}, {}

    def _program(self, folder: Path, chosen: Chosen, limits: Limits) -> Program:
        """Return what runs the programs of a folder, which are written there where they are not."""
        for name, content in self.programs(chosen).items():
            path = folder / name
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content if isinstance(content, bytes) else content.read_bytes())
        return self.command(folder, chosen, limits)

    def _converted(
        self, program: Program, onnx: Path, into: Path, plan: Plan, cases: list[KitCase]
    ) -> tuple[dict[str, bytes], str]:
        """The runtime's files of a model by name, and which of them it opens."""
        into.mkdir()
        how = self._told(plan)
        how["shapes"] = [[tensor["native"], tensor["shape"], tensor["dtype"]] for tensor in cases[0]["inputs"]]
        write_json(into / "how.json", how)
        main = program.converted(onnx.resolve(), into)
        names = sorted(path.name for path in into.iterdir() if path.is_file() and path.name != "how.json")
        return {name: (into / name).read_bytes() for name in names}, main

    def _told(self, plan: Plan) -> dict[str, object]:
        return {"name": self.title, "precision": plan.precision, "sizes": dict(plan.wanted.sizes or {})}

    def _answered_layers(self, chosen: Chosen, place: Path, plan: Plan) -> bool:
        """Return whether the runtime gives the values inside too, so that the operator that errs can be named."""
        kit = place / "layers"
        (kit / "layers").mkdir(parents=True)
        cases = [(number, case.name) for number, case in selected_of(chosen.manifest.cases, plan.wanted)]
        inputs, selected = recorded_files(chosen.bundle, chosen.name, cases, headers=False)
        files, part = layer_files(chosen.bundle, chosen.name, selected)
        for name, content in {**inputs, **files}.items():
            (kit / name).parent.mkdir(exist_ok=True)
            (kit / name).write_bytes(content if isinstance(content, bytes) else content.read_bytes())
        program = self._program(kit, chosen, chosen.limits)
        try:
            converted, main = self._converted(program, kit / part["model"], kit / "model", plan, part["cases"])
            about = {"layers": {**part, "model": f"model/{main}"}, "runtime": self._told(plan)}
            write_json(kit / "kit.json", about)
            program.run(place, "shows its layers", "--layers", "--kit", str(kit), "--out", str(place / ANSWERS))
        except ModelError:  # what refuses only so many outputs: then the answers alone have to speak
            return False
        return bool(converted)


def refusal(report: Report, engine: str) -> ModelError:
    """The error of a runtime that computes something else: the first claim that fails, and the cause."""
    rows = [row for row in report.rows() if row[1].outcome not in (Outcome.MATCH, Outcome.WAIVED)]
    claim, proof = rows[0]
    if all(row[1].outcome is Outcome.INCONCLUSIVE for row in rows):
        what = f"what {engine} gives cannot be judged ({len(rows)} of {len(report.verdict.plan)}): {proof.reason}"
        hint = (
            "give the bundle inputs on which its outputs differ more, or the precision a budget that tells them apart"
        )
        return ModelError(what, where=str(claim), hint=hint)
    causes = "; ".join(dict.fromkeys(blame.reason for blame in report.blames if blame.reason))
    what = (
        f"{engine} does not give what the bundle recorded ({len(rows)} of {len(report.verdict.plan)}): {proof.reason}"
    )
    return ModelError(f"{what}. {causes}" if causes else what, where=str(claim), hint=_cure(report))


def _cure(report: Report) -> str:
    """Suggest what to do where a runtime computes something else; nothing is left of it to look into."""
    if any(blame.reason.startswith("likely cause: reduced precision:") for blame in report.blames):
        return "give --precision fp16, if what it computes is near enough; or choose another target"
    return "choose another target; exporter kit BUNDLE --layers asks the runtime for every value inside"


def said_of(report: Report) -> str:
    """How many cases were run, and by how much the worst of them errs."""
    proofs = [proof for claim, proof in report.rows() if claim.case]
    cases = len({claim.case for claim in report.verdict.plan if claim.case})
    counted = "1 recorded case" if cases == 1 else f"{cases} recorded cases"
    ratios = [proof.metrics["error_ratio"] for proof in proofs if "error_ratio" in proof.metrics]
    if ratios:
        return f"{counted}, largest error ratio {max(ratios):.2g} of {report.budget:g}"
    levels = [proof.metrics["snr_db"] for _, proof in report.rows() if "snr_db" in proof.metrics]
    return f"{counted}, signal-to-noise ratio {min(levels):.0f} dB" if levels else counted


def _source(name: str) -> bytes:
    return (PROGRAMS / f"{name}.py").read_bytes()
