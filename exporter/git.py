"""What git knows: which files differ from a commit."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from exporter.errors import EnvironmentLacks, UsageError


@dataclass(frozen=True)
class Changed:
    """Absolute paths that differ from a commit: `present` are changed or new (untracked, too), `gone` are not there."""

    present: frozenset[Path]
    gone: frozenset[Path]


def changed_since(base: str) -> Changed:
    """Compare the working folder with a commit. A file that was moved is gone in one place and new in another.

    Raises:
        UsageError: there is no such commit, or no repository.
        EnvironmentLacks: there is no git.
    """
    if base.startswith("-"):
        raise UsageError(f"'{base}' is not a commit", where="--base", hint="give a branch, a tag or a commit")
    top = Path(_git("rev-parse", "--show-toplevel").strip())
    told = _git("diff", "--name-status", "--no-renames", "--no-ext-diff", "-z", base, "--").split("\0")
    new = _git("ls-files", "--others", "--exclude-standard", "--full-name", "-z", str(top)).split("\0")
    status = dict(zip(told[1::2], told[0::2], strict=False))  # ends in an empty text
    present = {top / name for name, word in status.items() if word != "D"} | {top / name for name in new if name}
    return Changed(frozenset(present), frozenset(top / name for name, word in status.items() if word == "D"))


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, check=False)  # noqa: S607 - on PATH
    except FileNotFoundError as error:
        raise EnvironmentLacks(
            "git is not installed", where="--base", hint="install git, or leave --base out"
        ) from error
    if done.returncode:
        reason = (done.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[0]
        hint = "give a commit of this repository: --base main"
        raise UsageError(f"git cannot tell what changed: {reason}", where="--base", hint=hint)
    return done.stdout.decode(errors="surrogateescape")
