"""`exporter doctor`: can this environment do what it will be asked to do?"""

from __future__ import annotations

import json
import sys

from exporter.cli._options import Debug, Device, Json, Timeout
from exporter.cli._run import Verb
from exporter.errors import ExitCode


def doctor(device: Device = None, timeout: Timeout = None, as_json: Json = False, debug: Debug = False) -> ExitCode:
    """Examine Python, packages, engines, device, CPU, memory, disk; exits 3 where a plain spec lacks something."""
    del debug  # the funnel looks for it
    from exporter.cli._progress import DEFAULT_TIMEOUT
    from exporter.doctor import as_text, examine
    from exporter.workers import Limits

    found = examine(device or "auto", Limits(seconds=timeout or DEFAULT_TIMEOUT))
    sys.stdout.write(json.dumps(found.to_json()) + "\n" if as_json else as_text(found))
    return ExitCode.PASSED if found.ready else ExitCode.ENVIRONMENT


plugin: Verb = doctor
