"""What docs/spec.md says besides the descriptions of the keys."""

from __future__ import annotations

START = """# The spec, key by key

[中文](spec.zh.md)

A spec says what is exported and what is promised of it. It is one YAML 1.2 file: `yes`, `017` and `1:30` are text, and
no key comes twice. An unknown key is refused, with the likely one named. Paths are as seen from the working folder.

- `exporter init NAME --model M:F` writes a first spec, with inputs as the model takes them.
- `exporter init --schema` prints the JSON Schema. Editors complete keys by it, and show the sentences of this page.
- `--set KEY=VALUE` sets one key from the command line, by its place: `--set dims.batch.max=16`.

In a place, `NAME` is a name of the spec's own, and `[]` an entry of a list. This page is generated:
`python -m tools.spec_pages docs`."""

PHRASES = {
    "start": START,
    "top": "Top level",
    "forms": "Forms of `values`",
    "engines": "Engines",
    "about_engines": "Each engine runs these formats in these precisions. `exporter doctor` says which can run here.",
    "variants": "Precisions",
    "about_variants": "Each precision besides `fp32` takes these settings, and `formats` and `budget`. What is not "
    "promised has its default budget ([precision.md](precision.md)).",
    "key": "key",
    "values": "values",
    "default": "default",
    "meaning": "what it does",
    "formats": "formats",
    "precisions": "precisions",
    "settings": "settings",
    "budget": "default budget",
    "required": "required",
    "none": "none",
    "or": " or ",
    "comma": ", ",
    "keys": "the keys below",
    "plain": "a value of JSON",
    "mapping": "names, each with {}",
    "list": "list of: {}",
    "some": "list of at least one: {}",
    "text": "text",
    "long": "text of at least {} characters",
    "date": "date, as `2027-01-31`",
    "boolean": "`true` or `false`",
    "integer": "integer",
    "number": "number",
    "name": "letters, digits, `.`, `_`, `-`",
    "identifier": "identifier",
    "sum": "identifier, or one `+N`",
    "reference": "`module:name`",
    "device": "`auto`, `cpu`, `gpu`, `gpu:N`",
    "safetensors": "`FILE.safetensors`",
}
