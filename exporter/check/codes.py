"""Findings that no rule makes, with what they mean: of the check itself, and of the probe."""

from __future__ import annotations

PROBE_CODES = {
    "EX201": "the probe: the model cannot be exported",
    "EX202": "the probe: the export never ends, or kills its process",
    "EX203": "the probe: the exported program cannot be loaded or run",
    "EX204": "the probe: the exported program has other outputs than the eager model",
    "EX205": "the probe: the exported program computes other values than the eager model",
    "EX206": "the model cannot run: of a spec an error; of a file, whose inputs are guessed, a note",
    "EX207": "the probe: the program depends on something that is neither the model nor an input",
}
OWN_CODES = {
    "EX001": "a file could not be read or parsed, so nothing of it was checked",
    "EX002": "no layer was found, or reading does not find the one that a factory gives, so nothing was checked",
    "EX003": "a model is too large to be followed to its end",
    "EX004": "an `# exporter: ignore[...]` comment is without a code or a reason, or ignores nothing",
    "EX005": "a name that reading a file does not find, so nothing was checked: it is made when the file is imported",
    **PROBE_CODES,
}
