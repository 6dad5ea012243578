"""The files of a bundle that tell its origin; the manifest names them, so they are under its digest and signature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from exporter.base.errors import UsageError
from exporter.base.files import readable_json, write_draft
from exporter.base.git import State, state_of
from exporter.bundle.bom import bill_of_materials
from exporter.bundle.environment import Environment, environment
from exporter.bundle.manifest import BOM, PROVENANCE, Content, Documents
from exporter.bundle.slsa import provenance_statement
from exporter.bundle.write import Hashed
from exporter.spec.recipe.source import sources


@dataclass(frozen=True)
class Origin:
    """The code and packages that a bundle is made with, and the commit of the folder that one works in."""

    made_with: Environment
    commit: State | None


def origin_of(content: Content, modules: Mapping[str, str]) -> Origin:
    """Where a bundle comes from; `modules` are those that made it."""
    made_with = environment({**modules, **_recipe(content)}, content.provenance["packages"])
    return Origin(made_with, state_of(Path.cwd(), made_with.places))


def with_documents(content: Content, draft: Path, origin: Origin, known: Hashed) -> Content:
    """Write provenance and bill of materials of all that lies in a draft; `known` is what was hashed of it before.

    Raises:
        EnvironmentLacks: the library that writes the bill is not installed.
    """
    files = Hashed.of(draft, known).files
    statement = provenance_statement(content, files, origin.made_with, origin.commit)
    write_draft(draft / PROVENANCE, readable_json(statement))
    write_draft(draft / BOM, bill_of_materials(content, files, origin.made_with))
    return content.model_copy(update={"documents": Documents()})


def _recipe(content: Content) -> dict[str, str]:
    """The files of the recipe: it was imported where the model was trained, which may be long ago."""
    reference = content.spec.get("recipe")
    if not reference:
        return {}
    try:
        return {name: str(path.resolve()) for name, path in sources(reference)}
    except UsageError:  # a checkpoint is given, and the recipe only names what its data is like
        return {}
