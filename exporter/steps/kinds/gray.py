"""The brightness of a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import model_validator

from exporter.base.errors import UsageError
from exporter.steps.base import Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: Red, green and blue in a brightness: shares, and those of uint8 as whole numbers of so many bits.
_SHARES = (0.299, 0.587, 0.114)
_WHOLE = {"opencv": ((9798, 19235, 3735), 15), "pillow": ((19595, 38470, 7471), 16)}


class Gray(Step):
    """[height, width, 3] to [height, width, `channels`] of brightness, in the same dtype.

    `order` is that of the picture's channels. `library` says by whose rules bytes are rounded. With `inverse` it is the
    distance to 1, of floats alone.
    """

    axes: ClassVar[Sequence[int]] = (3,)
    dtypes: ClassVar[Sequence[str]] = ("uint8", "float32")

    order: Literal["rgb", "bgr"] = "rgb"
    channels: Literal[1, 3] = 1
    library: Literal["opencv", "pillow"] = "opencv"
    inverse: bool = False

    @model_validator(mode="after")
    def _known(self) -> Gray:
        if self.inverse and self.library == "pillow":
            raise ValueError("`inverse` is of floats, which Pillow does not make gray: leave `library` out")
        return self

    def run(self, value: Array) -> Array:
        import numpy as np

        whole = value.dtype == np.uint8
        wrong = (whole and self.inverse) or (not whole and self.library == "pillow")
        if value.shape[2] != 3 or wrong:
            what = "floats" if self.inverse else "bytes" if self.library == "pillow" else "numbers"
            raise UsageError(
                f"it takes three channels of {what}, and got {value.dtype.name} of shape {list(value.shape)}",
                hint="put it where its input has that form: bytes behind `decode`, floats behind `normalize`",
            )
        picture = value if self.order == "rgb" else value[:, :, ::-1]
        bright = brightness(picture, self.library) if whole else _sum(picture, _SHARES)
        result = np.abs(bright - np.float32(1)) if self.inverse else bright
        return np.ascontiguousarray(np.repeat(result[:, :, None], self.channels, axis=2))


def brightness(picture: Array, library: Literal["opencv", "pillow"]) -> Array:
    """Bytes [height, width] of a picture in the order RGB, rounded as OpenCV 4 (color_rgb) or Pillow (Convert.c) do."""
    import numpy as np

    shares, bits = _WHOLE[library]
    total = picture.astype("int64") @ np.asarray(shares)
    return np.asarray((total + (1 << (bits - 1))) >> bits, "uint8")


def _sum(picture: Array, shares: Sequence[float]) -> Array:
    import numpy as np

    red, green, blue = (picture[:, :, at] * np.float32(share) for at, share in enumerate(shares))
    return np.asarray(blue + green + red)


plugin: type[Step] = Gray
