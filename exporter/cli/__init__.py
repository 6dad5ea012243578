"""The command line: one file a verb, found by its place; each reads, calls the pipeline, renders and exits."""

import os
import sys

VERBS = "exporter.cli"


def main() -> None:
    """Entry point of `exporter` and `export`."""
    _import_nothing_from_here()
    import gc

    gc.disable()  # what is imported stays: to look through it for garbage is a tenth of a short verb's time
    import typer

    import exporter
    from exporter.base.registry import Registry
    from exporter.cli import run

    app = typer.Typer(
        name="exporter",
        help="Take a PaddlePaddle model from eager code to a static artifact, and prove that it computes the same.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,  # plain help: it starts in half the time
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    def version(asked: bool) -> None:
        if asked:
            sys.stdout.write(f"exporter {exporter.__version__}\n")
            raise typer.Exit

    @app.callback()
    def common(
        version: bool = typer.Option(False, "--version", is_eager=True, callback=version, help="Print the version."),
    ) -> None:
        del version

    verbs: Registry[run.Verb] = Registry(VERBS, "verb")
    files = {verb_of(name): name for name in verbs.names()}
    for name in _asked(sys.argv[1:], tuple(files)):
        app.command(name)(verbs[files[name]])
    run.run(app, sys.argv[1:])


def verb_of(file: str) -> str:
    """The verb of a file: `import` is a keyword, so its file is import_.py; and no module has a hyphen in its name."""
    return file.removesuffix("_").replace("_", "-")


def _import_nothing_from_here() -> None:
    """Take the working folder off the path: a bundle may lie there, and its `numpy.py` is not numpy.

    `python -m` and PYTHONPATH may have put it there; and an installation in place puts there what is no path, which
    zipimport would look for in the working folder. Only Python's own `os` is used, which is loaded already. A folder
    that holds this package itself stays. This file imports no `__future__`, which would be found there as well.
    """
    here, ours = os.path.realpath("."), os.path.realpath(os.path.join(__file__, *[os.pardir] * 3))  # noqa: PTH118
    if here != ours:
        sys.path[:] = [place for place in sys.path if os.path.isabs(place) and os.path.realpath(place) != here]  # noqa: PTH117


def _asked(arguments: list[str], verbs: tuple[str, ...]) -> tuple[str, ...]:
    """The verb that a command line names; all of them where it names none, for the help and the suggestions."""
    first = next((each for each in arguments if not each.startswith("-")), "")
    return (first,) if first in verbs else verbs


__all__ = ["main", "verb_of"]
