"""Count lines of Python files, and of these the lines of code, here and at another commit.

    python -m tools.lines [--at COMMIT] PATH...

A line of code is one that holds a token of the program: not blank, no comment, no part of a docstring. PATH is a file
or a folder, from the root of the repository. With `--at`, each file's numbers there stand before those of now.
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import sys
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
_NO_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Lines(NamedTuple):
    """Lines of a file, and those of them that hold code."""

    every: int
    code: int


def count(text: str) -> Lines:
    """Count the lines of a Python file."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    spans = ((token.start[0], token.end[0]) for token in tokens if token.type not in _NO_CODE)
    code = {line for first, last in spans for line in range(first, last + 1)}
    return Lines(len(text.splitlines()), len(code - set(_docstrings(ast.parse(text)))))


def _docstrings(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node, clean=False) is not None:
            yield from range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)


def files(paths: Sequence[str], commit: str) -> Mapping[str, Lines]:
    """Count each Python file below the paths, at a commit or, where that is empty, as it lies here."""
    if commit:
        names = _git("ls-tree", "-r", "--name-only", commit, "--", *paths).splitlines()
        return {name: count(_git("show", f"{commit}:{name}")) for name in names if name.endswith(".py")}
    found = [
        file for path in paths for file in ([ROOT / path] if path.endswith(".py") else (ROOT / path).rglob("*.py"))
    ]
    return {file.relative_to(ROOT).as_posix(): count(file.read_text()) for file in sorted(found) if file.is_file()}


def _git(*arguments: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True).stdout


def main() -> int:
    """Print a row for each file, and their sum."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--at", default="", metavar="COMMIT")
    parser.add_argument("paths", nargs="+", metavar="PATH")
    options = parser.parse_args()
    commits = [options.at, ""] if options.at else [""]
    columns = [files(options.paths, commit) for commit in commits]
    rows = {name: [column.get(name, Lines(0, 0)) for column in columns] for name in sorted(set().union(*columns))}
    totals = [Lines(*map(sum, zip(*column.values(), strict=True))) for column in columns]
    for name, row in {**rows, "sum": totals}.items():
        print("".join(f"{lines.every:7}{lines.code:7}" for lines in row) + f"  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
