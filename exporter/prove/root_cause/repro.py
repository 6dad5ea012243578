"""Leave a failure behind so that it can be run again: its inputs, what was expected, and the smallest part that fails.

One folder a failed run. `README.md` says what failed, and the one command that shows it again. `case.safetensors` is
the case, laid out as the goldens of a bundle. `part/` is the blamed sublayer exported alone with the inputs that it
had, and lies there only if it fails alone; its `replay.py` runs it.
"""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from exporter.base.files import replace_folder, sha256_bytes, sibling
from exporter.base.tensors import Array, save
from exporter.process.workers import Limits, Setting
from exporter.prove.harness import Bench
from exporter.prove.root_cause.part import Captured, part_ratios, write_part
from exporter.prove.verdict.blame import Blame
from exporter.prove.verdict.claim import Claim

#: The folder in a failed bundle that holds its repros.
REPRO = "repro"
_REPLAY = '''"""Run the sublayer alone in the engine that failed: exits 1 while it still fails, 0 once it does not."""

from pathlib import Path

from exporter.prove.root_cause.repro import replay

if __name__ == "__main__":
    raise SystemExit(replay(Path(__file__).resolve().parent))
'''


@dataclass(frozen=True)
class Keep:
    """Where repros go, the bundle whose failures they show, and whether its weights must not be in them.

    `shown` is where `into` will lie later, if it lies in a draft.
    """

    into: Path
    bundle: Path
    scramble: bool = False
    shown: Path | None = None


def leave(keep: Keep, bench: Bench, blame: Blame, captured: Captured | str, setting: Setting) -> Path:
    """Write the folder of one failed run; return where it is to be found. An earlier one of the claim is replaced.

    `captured` is the call to blame, or says why there is none.

    Raises:
        UsageError, EnvironmentLacks: the folder cannot be written.
    """
    final = keep.into / folder_name(blame.claim)
    shown = (keep.shown or keep.into) / final.name
    with sibling(final) as draft:
        draft.mkdir()
        if isinstance(captured, Captured):
            why_no_part = write_part(bench, blame, captured, draft / "part", setting)
        else:
            why_no_part = captured
        command = verify_command(keep, blame) if why_no_part else f"python {shlex.quote(str(shown / 'part/replay.py'))}"
        if not why_no_part:
            (draft / "part/replay.py").write_text(_REPLAY)
        if not keep.scramble:
            case = next(one.recorded for one in bench.cases if one.name == blame.claim.case)
            save(draft / "case.safetensors", _case(bench.golden, case))
        (draft / "README.md").write_text(_readme(keep, blame, command, why_no_part))
        replace_folder(draft, final)
    return shown


def folder_name(claim: Claim) -> str:
    """A name that any file system takes, and that no other claim has."""
    text = str(claim)
    plain = re.sub(r"[^A-Za-z0-9.=,-]+", "_", text).strip("._")[:80]
    return f"{plain}-{sha256_bytes(text.encode())[:8]}"


def verify_command(keep: Keep, blame: Blame) -> str:
    """What shows the failure again in the bundle itself."""
    claim = blame.claim
    engines = " --source ." if claim.format == "source" else f" --engines {claim.engine}"
    return f"exporter verify {shlex.quote(str(keep.bundle))} --case {shlex.quote(claim.case)}{engines}"


def replay(folder: Path) -> int:
    """Run a part again; print each output's error ratio and return 1 if one is over the budget it was judged by."""
    import json

    budget = json.loads((folder / "part.json").read_bytes())["budget"]
    failed = False
    for name, found in part_ratios(folder, Limits()).items():
        over = not found <= budget
        sys.stdout.write(f"{name}: error ratio {found:.3g}, {'over' if over else 'within'} the budget of {budget:g}\n")
        failed = failed or over
    return int(failed)


def _case(golden: Path, case: str) -> dict[str, Array]:
    from safetensors import safe_open

    with safe_open(str(golden), framework="numpy") as reader:
        return {name: reader.get_tensor(name) for name in list(reader.keys()) if name.startswith(f"{case}/")}


def _readme(keep: Keep, blame: Blame, command: str, why_no_part: str) -> str:
    scrambled = ", its weights scrambled" if keep.scramble else ""
    lines = [
        f"# {blame.claim}",
        "",
        str(blame),
        "",
        "Show it again:",
        "",
        f"    {command}",
        "",
        f"There is no smaller part: {why_no_part}."
        if why_no_part
        else f"`part/` is the sublayer alone with the inputs that it had{scrambled}; it fails alone.",
    ]
    if not keep.scramble:
        lines.append("`case.safetensors` holds the case: what goes in, eager's output and the float64 truth.")
    return "\n".join(lines) + "\n"
