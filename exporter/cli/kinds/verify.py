"""`exporter verify`: is this bundle whole, and does every artifact still compute what eager computed?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from exporter.base.errors import Refusal, UsageError
from exporter.cli import target as targets
from exporter.cli.options import (
    Cases,
    Debug,
    Device,
    Digest,
    Jobs,
    Json,
    Quiet,
    Signature,
    Source,
    Store,
    Timeout,
    Trust,
    Waivers,
)
from exporter.cli.run import Ending, Verb, until_the_end

_Bundle = Annotated[
    Path | None,
    typer.Argument(help="The folder of a bundle, or models:/NAME@ALIAS in a registry.", metavar="[BUNDLE]"),
]
_Reference = Annotated[
    str | None,
    typer.Option("--reference", help="Instead: a Paddle program, or a spec, that --artifact is held against."),
]
_Artifact = Annotated[
    Path | None, typer.Option("--artifact", help="A file that another tool wrote: .onnx, .json, .pdmodel, .xml.")
]
_Case = Annotated[str | None, typer.Option("--case", help="Only this recorded case.", metavar="NAME")]
_Repro = Annotated[
    Path | None, typer.Option("--repro", help="Leave a folder there for each failure, to show it again.", metavar="DIR")
]
_Scramble = Annotated[
    bool, typer.Option("--scramble", help="Repros without the model's weights: shuffled ones that fail all the same.")
]
_Engines = Annotated[str | None, typer.Option("--engines", help="Only these, separated by commas.")]
_Without = Annotated[
    str | None, typer.Option("--without", help="Leave these proofs out, as metric,speed.", metavar="KINDS")
]
_Page = Annotated[
    Path | None, typer.Option("--page", help="Write the report as a page to decide by.", metavar="FILE.html")
]
_Bench = Annotated[
    bool, typer.Option("--bench", help="Time the engines too, for the page: the fastest of those that hold is marked.")
]
_Runtime = Annotated[
    str | None,
    typer.Option("--runtime", help="Only in these, as paddle==2.6.2,3.1.1,onnxruntime==1.20.1.", metavar="LIST"),
]
_Answers = Annotated[
    Path | None,
    typer.Option("--answers", help="Judge what came back of `exporter kit`: a folder, or answers.tar.", metavar="DIR"),
]
_Engine = Annotated[
    str | None, typer.Option("--engine", help="With --answers: what computed them.", metavar='"rknn 2.5 on RK3588"')
]
_Precision = Annotated[
    str | None, typer.Option("--precision", help="With --answers: judge by the budget of fp16 or int8.", metavar="P")
]
_Variant = Annotated[str | None, typer.Option("--variant", help="With --answers: the variant that the kit carries.")]
_Layers = Annotated[
    bool, typer.Option("--layers", help="With --answers: which operator errs by itself, and which hands on an error.")
]


def verify(  # noqa: PLR0913 - an option is a parameter
    bundle: _Bundle = None,
    reference: _Reference = None,
    artifact: _Artifact = None,
    dims: targets.Dims = None,
    values: targets.Values = None,
    engines: _Engines = None,
    case: _Case = None,
    without: _Without = None,
    source: Source = None,
    store: Store = "",
    trust: Trust = None,
    signature: Signature = None,
    digest: Digest = None,
    accept_waivers: Waivers = False,
    repro: _Repro = None,
    scramble: _Scramble = False,
    page: _Page = None,
    bench: _Bench = False,
    runtime: _Runtime = None,
    answers: _Answers = None,
    engine: _Engine = None,
    precision: _Precision = None,
    variant: _Variant = None,
    cases: Cases = 0,
    layers: _Layers = False,
    device: Device = None,
    timeout: Timeout = None,
    jobs: Jobs = 0,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> Ending:
    """Prove BUNDLE again: its integrity, then every output of every case on every engine.

    Nothing that BUNDLE names is imported: its goldens stand for the model. With --source the model itself is
    judged too, and its sublayers, if its files are those that the bundle was made of.

    A failure is localised: the stage that brought it in, and the first sublayer whose values are wrong. What
    is narrowed by --engines, --case or --without and holds is called partial. With --runtime the bundle's verify.py
    runs in an environment of each of those versions instead, built once and kept in the user's cache.

    With --reference and --artifact no bundle is needed: is that file this model? Inputs and outputs under other
    names are taken by their places; --dim and --values say what the program leaves open.

    With --answers and --engine nothing of BUNDLE runs: numbers that somebody measured elsewhere, on the inputs of
    `exporter kit`, are judged by the same rule, and the likely cause of wrong ones is named.

    With --trust nothing of it is read or run before somebody trusted is known to have signed just these files.

    The waivers in BUNDLE are its maker's: they count with --accept-waivers, or where whoever signed it may waive.

    models:/NAME@ALIAS or models:/NAME/VERSION is taken out of the registry of --store first, and is a stranger's.
    """
    from exporter import pipeline
    from exporter.bundle.received import Receiver
    from exporter.cli.elsewhere import Heard, Kit, judge_kit
    from exporter.cli.outcome import conclude_matrix, conclude_report, refuse_page, write_page
    from exporter.cli.progress import setting
    from exporter.cli.trust import Demands, proven, refuse_exchanged
    from exporter.prove.proofs.base import Narrowing

    if reference is not None or artifact is not None or bundle is None:
        if bundle is not None or reference is None or artifact is None:
            hint = "name a bundle; or give both --reference PROGRAM and --artifact FILE, and no bundle"
            raise UsageError("nothing says what is to be verified", where="exporter verify", hint=hint)
        with setting(quiet=quiet, timeout=timeout, jobs=jobs) as how:
            described = targets.Described(None, dims, values, None)
            keys = {"device": device, "engines": engines.split(",") if engines else None}
            report = pipeline.judge_foreign(targets.spec_of(reference, described, keys), artifact, how)
        ending = conclude_report(report, artifact, as_json=as_json)
        hint = f"let exporter convert {reference} write it, which proves it at once"
        return Refusal(ending.exit, hint) if isinstance(ending, Refusal) else ending
    if scramble and repro is None:
        raise UsageError("--scramble is about repros", where="--scramble", hint="say where they go, with --repro DIR")
    shown, bundle = bundle, _at_hand(bundle, store)
    demands = Demands(tuple(trust or ()), signature, digest)
    refuse_page(page, bundle, bench=bench)
    if answers is not None or engine is not None:
        others = (engines, case, without, runtime, repro, bench, device)
        kit = Kit(answers, engine, precision, variant, cases, tuple(dims or ()), layers, source)
        heard = Heard(quiet, timeout, jobs, as_json)
        return judge_kit(bundle, kit, heard, (demands, accept_waivers), page, alone=not any(others))
    if runtime is not None:
        if engines or case or without or source or repro or page or device:
            hint = "leave out --engines, --case, --without, --source, --repro, --page and --device"
            raise UsageError("runs verify.py as it is", where="--runtime", hint=hint)
        with setting(quiet=quiet, timeout=timeout) as how:
            known = proven(bundle, demands, how)
            receiver = Receiver(accept_waivers or known.may_waive, bool(known.digest))
            matrix = pipeline.in_runtimes(bundle, runtime, how, receiver)
        refuse_exchanged(matrix.digest, known.digest, bundle)
        return conclude_matrix(matrix, shown, as_json=as_json)
    with setting(quiet=quiet, timeout=timeout, jobs=jobs) as how:
        known = proven(bundle, demands, how)
        receiver = Receiver(accept_waivers or known.may_waive, bool(known.digest))
        listed = [tuple(text.split(",")) if text else () for text in (engines, without)]
        narrowing = Narrowing(listed[0], case or "", listed[1])
        report = pipeline.verify(bundle, how, narrowing, device, pipeline.Blaming(repro, scramble), source, receiver)
        if page is not None:
            signed = "signed by a key that is trusted here" if demands.trust else ""
            write_page(pipeline.with_facts(report, bundle, how, timed=bench, trusted=signed), page)
    refuse_exchanged(report.digest, known.digest, bundle)
    return conclude_report(report, shown, as_json=as_json)


def _at_hand(bundle: Path, store: str) -> Path:
    """The folder of a bundle; of one in a registry a temporary one, until the command ends."""
    if ":/" not in str(bundle):
        return bundle
    from exporter.deploy.publish.base import fetched

    return until_the_end(fetched(str(bundle), store))


plugin: Verb = verify
