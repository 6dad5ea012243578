"""What to try where answers do not pass: one command or edit, by the cause that was named."""

from __future__ import annotations

from exporter.prove.judge.report import Report
from exporter.prove.verdict.claim import Outcome

#: By the name of a cause; docs/elsewhere.md says what each means.
_CURES = {
    "missing": "run every case of the kit and send all of answers/; a kit of some cases is judged with its own --cases",
    "truncated": "copy the folder of answers again: a file is cut off",
    "unreadable": "write the answers as the kit's programs do: .npy by numpy.save, or bare numbers",
    "renamed": "list the names of the outputs in answers.json as the kit has them",
    "swapped outputs": "take the outputs by their names, and number them as kit.json does",
    "stale": "wait for the run to end, and read the output buffer anew for each case",
    "NHWC for NCHW": "transpose at the border of the engine, or convert the model for the layout of the kit",
    "mean or scale of inputs": "take mean and scale out of the converter's settings: the kit's inputs need none",
    "fp16 overflow": "keep the layers that overflow in float32",
    "reduced precision": "the same command with --precision fp16 or int8, if that is what runs there",
}
_OTHERWISE = "run the kit's run.py beside it: it gives what is due, and shows where the two part"


def advice_on(report: Report) -> str:
    """One command or edit for answers that did not pass."""
    reasons = [blame.reason for blame in report.blames]
    for name, cure in _CURES.items():
        if any(reason.startswith(f"likely cause: {name}:") for reason in reasons):
            return cure
    if any(evidence.outcome is Outcome.MISSING for _, evidence in report.rows()):
        return _CURES["missing"]
    return _OTHERWISE
