"""The files of a bundle that tell its origin; the manifest names them, so they are under its digest and signature."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from exporter.bundle.bom import bill_of_materials
from exporter.bundle.environment import environment
from exporter.bundle.manifest import BOM, PROVENANCE, Content, Documents
from exporter.bundle.slsa import provenance_statement
from exporter.bundle.write import written
from exporter.errors import UsageError
from exporter.files import readable_json, write_draft
from exporter.git import state_of
from exporter.recipe.source import sources


def with_documents(content: Content, draft: Path, modules: Mapping[str, str]) -> Content:
    """Write provenance and bill of materials of all that lies in a draft; `modules` are those that made it.

    Raises:
        EnvironmentLacks: the library that writes the bill is not installed.
    """
    made_with, files = environment({**modules, **_recipe(content)}, content.provenance["packages"]), written(draft)
    statement = provenance_statement(content, files, made_with, state_of(Path.cwd(), made_with.places))
    write_draft(draft / PROVENANCE, readable_json(statement))
    write_draft(draft / BOM, bill_of_materials(content, files, made_with))
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
