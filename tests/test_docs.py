"""What the documents tell a reader to type is there: scripts, modules, verbs, and each of their options."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.command import ROOT
from tests.test_architecture import DOORS

PAGES = (
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "evals/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
)
#: A command is a code span or a line of a code block; it ends where a comment or an ellipsis begins.
COMMAND = re.compile(r"(?:^ *|`|\$ |&& |; )(?:\.venv/bin/)?((?:python|exporter) [^`\n|#;…]*)", re.MULTILINE)
#: Not ours, or made on the way.
ELSEWHERE = re.compile(r"python (-m pytest|/tmp/)")


def commands() -> list[tuple[str, str]]:
    found = [(page.name, one.strip()) for page in PAGES for one in COMMAND.findall(page.read_text("utf-8"))]
    return [(page, one) for page, one in found if not ELSEWHERE.match(one)]


def sources(command: str) -> list[Path]:
    """The files that read the options of a command: what it names, and what lies beside it."""
    program, first, *rest = (word for word in command.split() if word != "-I")
    if program == "exporter":
        verb = "import_" if first == "import" else first.replace("-", "_")  # what is no name of a module
        return [
            ROOT / f"exporter/cli/kinds/{verb}.py",
            ROOT / "exporter/cli/options.py",
            ROOT / "exporter/cli/target.py",
        ]
    if first != "-m":
        return [ROOT / first, *(ROOT / first).parent.glob("*.py")]
    place = ROOT.joinpath(*rest[0].split("."))
    return [place / "__main__.py" if place.is_dir() else place.with_suffix(".py")]


@pytest.mark.parametrize(("page", "command"), commands())
def test_a_command_and_its_options_are_there(page: str, command: str) -> None:
    files = sources(command)
    assert files[0].is_file(), f"{page}: {command}"
    text = "".join(file.read_text() for file in files)
    missing = {option for option in re.findall(r"(?<![^\s\[])(--[a-z][a-z-]*)", command) if not _declared(option, text)}
    assert not missing, f"{page}: {command}: {missing}"


def _declared(option: str, text: str) -> bool:
    """As typer or argparse are told of it, or typer makes it of a parameter's name."""
    return option in text or f"{option[2:].replace('-', '_')}:" in text


def test_commands_were_found_at_all() -> None:
    found = [command for _, command in commands()]
    assert len(found) > 40 and {"exporter doctor", "python benchmarks/verify.py"} <= set(found)


def test_what_the_map_names_is_there() -> None:
    """Files and folders, seen from the root or from the package."""
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*(?:/|\.py))`", (ROOT / "ARCHITECTURE.md").read_text("utf-8")))
    assert len(named) > 60
    assert not [name for name in named if not any((root / name).exists() for root in (ROOT, ROOT / "exporter"))]


def test_the_map_lists_the_doors_in_their_order() -> None:
    listed = re.findall(r"^\| `([a-z]+)(?:/|\.py)` \|", (ROOT / "ARCHITECTURE.md").read_text("utf-8"), re.MULTILINE)
    assert tuple(listed) == DOORS
