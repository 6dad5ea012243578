"""The command line: one file a verb, found by its place; each reads, calls the pipeline, renders and exits."""

from __future__ import annotations

import sys
from collections.abc import Sequence

VERBS = "exporter.cli"


def main() -> None:
    """Entry point of `exporter` and `export`."""
    import typer

    import exporter
    from exporter.cli import _run
    from exporter.registry import Registry

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

    verbs: Registry[_run.Verb] = Registry(VERBS, "verb")
    files = {name.removesuffix("_"): name for name in verbs.names()}  # `import` is a keyword, so its file is import_.py
    for name in _asked(sys.argv[1:], tuple(files)):
        app.command(name)(verbs[files[name]])
    _run.run(app, sys.argv[1:])


def _asked(arguments: Sequence[str], verbs: Sequence[str]) -> Sequence[str]:
    """The verb that a command line names; all of them where it names none, for the help and the suggestions."""
    first = next((each for each in arguments if not each.startswith("-")), "")
    return (first,) if first in verbs else verbs


__all__ = ["main"]
