"""What git knows: how the working folder differs from a commit."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from exporter.base.errors import EnvironmentLacks, UsageError
from exporter.base.files import sha256_bytes

#: Variables by which git tells a hook of its repository: they would name it in the folder of any other one, too.
_OF_A_HOOK = frozenset(
    f"GIT_{name}" for name in ("DIR", "WORK_TREE", "INDEX_FILE", "PREFIX", "COMMON_DIR", "NAMESPACE")
)


@dataclass(frozen=True)
class Base:
    """A commit to compare the working folder with; `flag` is the option that named it, for what is said to the user.

    Its members raise:
        UsageError: there is no such commit, or no repository.
        EnvironmentLacks: there is no git.
    """

    commit: str
    flag: str

    @cached_property
    def top(self) -> Path:
        """The folder of the repository."""
        return Path(self._git("rev-parse", "--show-toplevel").removesuffix("\n"))

    def diff(self, *options: str) -> str:
        """Return the output of `git diff` for the tracked files, staged and unstaged changes together.

        Compared with the commit where the present one and the base have parted: what others have changed in the base
        since then is not ours.
        """
        return self._git("-C", str(self.top), "diff", "--no-color", "--no-ext-diff", *options, self.parted, "--")

    @cached_property
    def parted(self) -> str:
        """The merge base: the last commit that the present one and the base have in common."""
        if self.commit.startswith("-"):  # git would take it for an option
            hint = f"give a branch, a tag or a commit: {self.flag} main"
            raise UsageError(f"'{self.commit}' is not a commit", where=self.flag, hint=hint)
        try:
            return self._git("merge-base", self.commit, "HEAD").strip()
        except UsageError as error:
            if self._git("rev-parse", "--is-shallow-repository").strip() == "true":
                what = f"this clone is shallow, and what it has of the history does not reach back to '{self.commit}'"
                hint = "git fetch --unshallow; for GitHub's actions/checkout fetch-depth: 0, for GitLab GIT_DEPTH: 0"
                raise UsageError(what, where=self.flag, hint=hint) from error
            raise

    def untracked(self) -> frozenset[Path]:
        """Files that git neither tracks nor ignores, as absolute paths."""
        names = self._git("-C", str(self.top), "ls-files", "--others", "--exclude-standard", "-z")
        return frozenset(self.top / name for name in names.split("\0") if name)

    def unwatched(self) -> frozenset[Path]:
        """Tracked files that are there and that git was told not to compare: `assume-unchanged`, `skip-worktree`."""
        lines = self._git("-C", str(self.top), "ls-files", "-v", "-z").split("\0")
        marked = (self.top / line[2:] for line in lines if line[:1].islower() or line[:1] == "S")
        return frozenset(path for path in marked if path.exists())

    def files(self) -> frozenset[Path]:
        """Files that git tracks, as absolute paths."""
        names = self._git("-C", str(self.top), "ls-files", "-z")
        return frozenset(self.top / name for name in names.split("\0") if name)

    def _git(self, *arguments: str) -> str:
        command = ["git", "-c", "core.quotePath=false", *arguments]
        try:
            done = subprocess.run(command, capture_output=True, check=False)
        except FileNotFoundError as error:
            hint = f"install git, or leave out {self.flag}"
            raise EnvironmentLacks("git is not installed", where=self.flag, hint=hint) from error
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            reason = said[0] if said else "no commit in common with the present one"
            hint = f"give a commit of this repository: {self.flag} main"
            raise UsageError(f"git cannot tell what changed: {reason}", where=self.flag, hint=hint)
        return done.stdout.decode(errors="surrogateescape")  # a file may be of any encoding


@dataclass(frozen=True)
class State:
    """The commit of a repository; `dirty` where a tracked file differs, or one that was asked for is not tracked."""

    commit: str
    dirty: bool


def git_output(folder: Path, *arguments: str) -> str | None:
    """Return what git says in a folder; None where it fails, as outside of a repository, or there is no git."""
    command = ["git", "-C", str(folder), "-c", "core.fsmonitor=false", *arguments]
    environment = {name: value for name, value in os.environ.items() if name not in _OF_A_HOOK}
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    try:
        done = subprocess.run(command, capture_output=True, check=False, env=environment)
    except FileNotFoundError:
        return None
    return done.stdout.decode(errors="surrogateescape") if done.returncode == 0 else None


def state_of(folder: Path, files: Sequence[Path] = ()) -> State | None:
    """The commit of the repository that a folder lies in; None where there is no commit, no repository or no git."""
    commit, top = (git_output(folder, "rev-parse", *what) for what in (("--verify", "HEAD"), ("--show-toplevel",)))
    if commit is None or top is None:
        return None
    inside = [path for path in files if path.resolve().is_relative_to(Path(top.removesuffix("\n")).resolve())]
    changed = git_output(folder, "status", "--porcelain", "--untracked-files=no")
    tracked = git_output(folder, "ls-files", "--error-unmatch", "--", *map(str, inside)) if inside else ""
    return State(commit.strip(), changed != "" or tracked is None)


def changes_of(folder: Path) -> str:
    """Return a SHA-256 of how the tracked files differ from the commit; empty if they do not, or without git."""
    command = ["git", "-C", str(folder), "diff", "--no-color", "--no-ext-diff", "--binary", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        return ""
    return sha256_bytes(done.stdout) if done.returncode == 0 and done.stdout else ""


@dataclass(frozen=True)
class Changed:
    """Absolute paths that differ from a commit: `present` are changed or new (untracked, too), `gone` are not there."""

    present: frozenset[Path]
    gone: frozenset[Path]


def changed_since(base: Base) -> Changed:
    """Which files differ from a commit. One that was moved is gone in one place and new in another.

    What git does not compare counts as changed. A submodule is told as its folder, whether it is at another commit or
    holds changes that are not committed.

    Raises:
        UsageError, EnvironmentLacks: as :class:`Base`.
    """
    told = base.diff("--name-status", "--no-renames", "--ignore-submodules=none", "-z").split("\0")
    status = dict(zip(told[1::2], told[0::2], strict=False))  # ends in an empty text
    gone = frozenset(base.top / name for name, word in status.items() if word == "D")
    present = frozenset(base.top / name for name in status) - gone
    return Changed(present | base.untracked() | base.unwatched(), gone)
