"""The raw samples of a pipeline: files of pictures, lines of text files, arrays; each by a name, as bytes or an array.

A picture is handed on as the bytes of its file (uint8 [size]), a line of a `.txt` file as its UTF-8 bytes without the
end of the line, a `.npy` file as one array, a `.safetensors` file as one array for each of its tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from exporter.base import tensors
from exporter.base.errors import UsageError, did_you_mean_file
from exporter.base.files import read_regular

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: Bytes of one sample's file.
MOST_BYTES = 32 << 20
#: Samples that are taken; the chains run on each, and its values lie in the bundle.
MOST_SAMPLES = 64


def read_samples(patterns: Sequence[str], folder: Path) -> dict[str, Array]:
    """The samples by name, in the order of the patterns and, within one, of the file names.

    Raises:
        UsageError: a pattern matches no file, a file cannot be read, or there are more than `MOST_SAMPLES`.
    """
    found: dict[str, Array] = {}
    for pattern in patterns:
        files = _matching(pattern, folder)
        if not files:
            hint = did_you_mean_file(folder / pattern, "name files of pictures, text, .npy or .safetensors")
            raise UsageError(f"no sample matches '{pattern}'", where="pipeline.samples", hint=hint)
        for path in files:
            name = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name
            found.update(_named(name, path))
            if len(found) > MOST_SAMPLES:
                what = f"there are more than {MOST_SAMPLES} samples"
                raise UsageError(what, where="pipeline.samples", hint="name fewer: those that differ most")
    return found


def _matching(pattern: str, folder: Path) -> list[Path]:
    """The files that a pattern matches, sorted; one that is absolute is seen from the root."""
    given = Path(pattern)
    start, inner = (Path(given.anchor), str(given.relative_to(given.anchor))) if given.anchor else (folder, pattern)
    try:
        return sorted(path for path in start.glob(inner) if path.is_file())
    except (ValueError, NotImplementedError) as error:
        hint = "write a pattern such as samples/*.png"
        raise UsageError(f"'{pattern}' is no pattern: {error}", where="pipeline.samples", hint=hint) from error


def _named(name: str, path: Path) -> Iterator[tuple[str, Array]]:
    """A file's samples; of one that holds several each has its number or name behind `#`."""
    parts = READERS.get(path.suffix.lower(), _bytes)(path)
    for key, value in parts.items():
        yield (f"{name}#{key}" if key else name), value


def _bytes(path: Path) -> Mapping[str, Array]:
    import numpy as np

    content = read_regular(path, MOST_BYTES)
    if not content:
        raise UsageError("the file of a sample is empty", where=str(path), hint="give a file that holds something")
    return {"": np.frombuffer(content, dtype=np.uint8)}


def _lines(path: Path) -> Mapping[str, Array]:
    import numpy as np

    lines = read_regular(path, MOST_BYTES).splitlines()
    named = {str(at + 1): np.frombuffer(line, dtype=np.uint8) for at, line in enumerate(lines) if line.strip()}
    if not named:
        raise UsageError("the file holds no line of text", where=str(path), hint="write one sample a line")
    return named


def _array(path: Path) -> Mapping[str, Array]:
    return {"": tensors.load_npy(path)}


#: How the files of each ending are read; all others are bytes.
READERS: dict[str, Callable[[Path], Mapping[str, Array]]] = {
    ".txt": _lines,
    ".npy": _array,
    ".safetensors": tensors.load,
}
