"""What a result depends on besides files of the project: our own code, installed packages, the machine."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Mapping
from fnmatch import translate
from functools import cache
from pathlib import Path
from typing import TypeAlias

from exporter.base import machine
from exporter.base.files import sha256_bytes
from exporter.gate.project import digest_below
from exporter.gate.reuse.packages import packages

#: Facts by name, each a text or texts by name.
Facts: TypeAlias = Mapping[str, str | Mapping[str, str]]

_PLAIN = re.compile(r"[\w.,:+-]{0,20}")
#: Variables of shells, terminals, sign-ins and CI jobs, which are others in each run (docs/cache.md lists them). All
#: others count.
PASSING = tuple(
    "_ CLICOLOR* COLUMNS COLORTERM FORCE_COLOR NO_COLOR DBUS_SESSION_BUS_ADDRESS DISPLAY HOSTNAME INVOCATION_ID LINES "
    "LOGNAME LS_COLORS MAIL OLDPWD PS1 PWD SHELL SHLVL TERM TMPDIR USER WINDOWID VIRTUAL_ENV* SSH_* SUDO_* TERM_* "
    "TMUX* XDG_* WSL* EXPORTER_* PYTEST_* PRE_COMMIT* ACTIONS_* BUILD_* CI CI_* GITHUB_* GITLAB_* JENKINS_* JOB_* "
    "NODE_NAME RUNNER_* AWS_* GIT_* *_PASSWORD *_SECRET *_TOKEN STAGE_NAME WORKSPACE* HUDSON_* EXECUTOR_NUMBER".split()
)
_PASSES = re.compile("|".join(map(translate, PASSING)))


def identity(device: str) -> Facts:
    """Return the facts of here and now; the GPUs only where the device may be one."""
    about = machine.cpu()
    facts: dict[str, str | Mapping[str, str]] = {
        "exporter": code_digest(),
        "Python": sys.version,
        "the system": f"{platform.platform()} {' '.join(platform.libc_ver())}",
        "the CPU": f"{about['model']}: {' '.join(about['abilities'])}",
        "package": packages(),
        "variable": {name: _shown(value) for name, value in sorted(os.environ.items()) if not _PASSES.match(name)},
    }
    if device != "cpu":
        facts["a GPU"] = {str(at): str(gpu) for at, gpu in enumerate([*machine.gpus(), machine.driver()])}
    return facts


def _shown(value: str) -> str:
    """A short plain value as it is; of another a digest, since it may be a secret, and records are read by others."""
    return value if _PLAIN.fullmatch(value) else f"sha256 {sha256_bytes(value.encode(errors='surrogateescape'))[:16]}"


def difference(before: Facts, now: Facts) -> str:
    """The first fact that is another one, in words; empty where none is."""
    for name in sorted({*before, *now}):
        was, is_ = before.get(name), now.get(name)
        if was == is_:
            continue
        if not isinstance(was, Mapping) or not isinstance(is_, Mapping):
            return f"{name} is another one"
        inner = next(key for key in sorted({*was, *is_}) if was.get(key) != is_.get(key))
        return f"{name} {inner} is {is_.get(inner, 'not there')}, and was {was.get(inner, 'not there')}"
    return ""


@cache
def code_digest() -> str:
    """A digest of every file of this package."""
    return digest_below(str(Path(__file__).parents[2]))
