"""A file's bytes as a picture."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from exporter.base.errors import EnvironmentLacks, UsageError
from exporter.steps.base import Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: Pixels that a picture may announce: 64 million, 192 MB as RGB.
MOST_PIXELS = 1 << 26


class Decode(Step):
    """Bytes of a picture (PNG, JPEG, BMP) to uint8 [height, width, 3], or [height, width, 1] of `gray`.

    `exif` turns the picture as its EXIF data says, which OpenCV's `imread` does and Pillow's `open` does not.
    """

    package: ClassVar[str] = "steps"
    dtypes: ClassVar[Sequence[str]] = ("uint8",)
    axes: ClassVar[Sequence[int]] = (1,)

    order: Literal["rgb", "bgr", "gray"] = "rgb"
    exif: bool = True

    def run(self, value: Array) -> Array:
        import numpy as np

        try:
            from PIL import Image, ImageOps, UnidentifiedImageError
        except ModuleNotFoundError as error:
            raise EnvironmentLacks(
                "reading pictures needs Pillow", where="decode", hint="pip install 'paddle-exporter[steps]'"
            ) from error
        try:
            with Image.open(io.BytesIO(value.tobytes())) as picture:
                if picture.width * picture.height > MOST_PIXELS:
                    raise ValueError(f"it announces {picture.width} x {picture.height} pixels")
                turned = ImageOps.exif_transpose(picture) if self.exif else picture
                whole = np.asarray(turned.convert("L" if self.order == "gray" else "RGB"))
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            # Pillow's text names the object that it read from, by its address.
            why = "its format is not known" if isinstance(error, UnidentifiedImageError) else error
            raise UsageError(
                f"it is no picture that can be read: {why}", hint="give a PNG, JPEG or BMP file that is whole"
            ) from error
        if self.order == "gray":
            return np.ascontiguousarray(whole[:, :, None])
        return np.ascontiguousarray(whole[:, :, ::-1] if self.order == "bgr" else whole)


plugin: type[Step] = Decode
