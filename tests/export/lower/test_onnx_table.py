"""What the tables of operators are made of, which as a whole take too long: the cases are found, and two are judged."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.command import ROOT

_TWO = """
import json, sys
from pathlib import Path
from evals.lower.onnx_table import TABLES, cases_of, judge, record
into = Path(sys.argv[1])
record(cases_of("kind")[:2], into)
print(json.dumps([[len(cases_of(table)) for table in TABLES], [judge(folder)[0] for folder in sorted(into.iterdir())]]))
"""


def test_every_table_has_its_cases_and_the_first_two_kinds_are_right(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _TWO, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stderr
    counts, judged = json.loads(done.stdout.splitlines()[-1])
    assert all(count > 300 for count in counts), counts
    assert set(judged) <= {"right", "not finite"} and len(judged) == 2, judged
