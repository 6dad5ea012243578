"""The program of a runtime, in a child with limits, without a network, in a temporary folder."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from signal import Signals

from exporter.base.errors import EnvironmentLacks, ModelError
from exporter.deploy.handoff.program import ProgramAnswer, ProgramRequest, execute
from exporter.process.workers import SINGLE_THREAD, Limits, call

#: Exit codes of the programs: the runtime is not installed.
NOT_INSTALLED = 3
#: Letters of a line that are told.
_LETTERS = 600
#: What TensorFlow and its kind log beside errors: `W0000 00:00:1795859054.304792   20923 computation_placer.cc:177] …`.
_LOG = re.compile(r"[IW]\d{4} \d\d:\d\d:")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_OTHER = "choose another target, or change the model as the message says"


@dataclass(frozen=True)
class Program:
    """How a runtime's program is called, and what to do where the runtime is not installed (`cure`)."""

    name: str
    command: tuple[str, ...]
    limits: Limits
    cure: str

    def version(self, place: Path) -> str:
        """The runtime's version.

        Raises:
            EnvironmentLacks: it is not installed.
        """
        return str(self._object(self.run(place, "starts", "version"))["version"])

    def converted(self, onnx: Path, into: Path) -> str:
        """Write the runtime's files of an ONNX into a folder; return the name of the one that it opens.

        Raises:
            ModelError: the converter refuses the model, or dies.
        """
        return str(self._object(self.run(into, "converts the model", "convert", str(onnx), str(into)))["main"])

    def run(self, place: Path, does: str, *words: str) -> str:
        """Run it in a folder; return what it printed.

        Raises:
            EnvironmentLacks: the runtime is not installed.
            ModelError: it refuses the model, or was ended by a signal.
            ExporterError: as :func:`exporter.process.workers.call`.
        """
        variables = {"HOME": str(place), "TMPDIR": str(place), "PYTHONDONTWRITEBYTECODE": "1", **_NO_PROXY}
        request = ProgramRequest((*self.command, *words), place, variables, alone=True)
        answer = call(execute, request, self.limits, environment=SINGLE_THREAD)
        if answer.status:
            self._refuse(answer, does)
        return answer.output

    def _refuse(self, answer: ProgramAnswer, does: str) -> None:
        last_words = _last(answer.errors, 3) or _last(answer.output, 3) or "no message"
        if answer.status == NOT_INSTALLED:
            raise EnvironmentLacks(f"is not installed: {_last(last_words)}", where=self.name, hint=self.cure)
        if answer.status < 0:
            last_words = f"it was ended by {Signals(-answer.status).name}; it said last: {last_words}"
        raise ModelError(f"{self.name} fails where it {does}: {last_words}", where=self.name, hint=_OTHER)

    def _object(self, output: str) -> Mapping[str, object]:
        """The object in the last line; raises ModelError where there is none."""
        try:
            return dict(json.loads(_last(output)))
        except ValueError as error:
            what = f"{self.name} ended without a word of what it did"
            raise ModelError(what, where=self.name, hint=_OTHER) from error


#: Where unshare(2) is refused, what asks for a proxy finds none.
_NO_PROXY = {name: "http://127.0.0.1:9" for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")}


def _last(text: str, count: int = 1) -> str:
    plain = _COLOUR.sub("", text)
    lines = [line.strip()[:_LETTERS] for line in plain.splitlines() if line.strip() and not _LOG.match(line)]
    return " | ".join(lines[-count:])
