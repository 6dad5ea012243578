"""Count what a reader stumbles over in the package: private words, docstrings that begin with a clause, `Any`.

    python -m tools.counts [--root CHECKOUT] [--where words|parameters|clauses|any|untyped]

`tests/test_counts.py` holds the limits; whoever lowers a count lowers its limit in the same commit.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Words that do not say what a value holds, as names of variables and parameters.
WORDS = frozenset(("one", "each", "found", "told", "said", "given", "made", "asked"))
#: Words with which a docstring begins that is a clause and says neither what is done nor what comes back.
CLAUSES = frozenset(("What", "Whether", "Where", "Who", "Why", "Of", "By", "With", "Without"))
#: Types that say nothing of what crosses between our own functions; in `exporter/` they stand for foreign JSON.
UNTYPED = frozenset(("dict[str, Any]", "Mapping[str, Any]", "Json"))


def words(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield each binding of a variable that is called by a private word."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in WORDS:
            yield node


def parameters(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield each parameter that is called by a private word."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.arg in WORDS:
            yield node


def clauses(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield each function whose docstring begins with a clause."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = (ast.get_docstring(node) or "").split(maxsplit=1)[:1]
            if first and first[0].strip(",.:;`") in CLAUSES:
                yield node


def anys(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield each `Any`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "Any":
            yield node


def untyped(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield each type that stands for any JSON."""
    for node in ast.walk(tree):
        named = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        if (named or isinstance(node, ast.Subscript)) and ast.unparse(node) in UNTYPED:
            yield node


COUNTS: Mapping[str, Callable[[ast.AST], Iterator[ast.AST]]] = {
    "words": words,
    "parameters": parameters,
    "clauses": clauses,
    "any": anys,
    "untyped": untyped,
}


def places(kind: str, root: Path = ROOT) -> list[str]:
    """Return where a kind stands in the package, as `exporter/x.py:12`."""
    return [
        f"{path.relative_to(root)}:{getattr(node, 'lineno', 0)}"
        for path in sorted((root / "exporter").rglob("*.py"))
        for node in COUNTS[kind](ast.parse(path.read_text()))
    ]


def main() -> int:
    """Print each count, or the places of one kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--where", choices=sorted(COUNTS))
    options = parser.parse_args()
    if options.where:
        print("\n".join(places(options.where, options.root)))
        return 0
    for kind in COUNTS:
        print(f"{kind:12}{len(places(kind, options.root)):6}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
