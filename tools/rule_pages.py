"""The folder docs/rules, a page for each rule and a list of them: `python -m tools.rule_pages docs/rules`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from exporter.base.files import write_bytes
from exporter.check.rule_page import page
from exporter.check.rules.base import Rule
from exporter.check.run import rules


def pages(every: Iterable[Rule]) -> dict[str, str]:
    """The files of `docs/rules`, by name."""
    written = [page(rule) for rule in every]
    table = "\n".join(f"| [{rule.code}]({rule.code}.md) | {rule.severity} | {rule.title} |" for rule in written)
    index = f"# Rules\n\n| code | severity | what is found |\n| --- | --- | --- |\n{table}\n"
    return {"README.md": index, **{f"{rule.code}.md": rule.markdown() for rule in written}}


def _main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages(rules().values()).items():
        write_bytes(folder / name, text.encode())


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
