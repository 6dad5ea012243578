"""What kit.json holds, key by key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict


class _WithHeader(TypedDict, total=False):
    """The file with a header, where there is one."""

    npy: str


class FedTensor(_WithHeader):
    """One input of one case, in one or two files of the same numbers."""

    name: str
    native: str
    dtype: str
    shape: list[int]
    bin: str
    sha256: str


class KitCase(TypedDict):
    """One case: its number in the bundle, which its answers are named by."""

    number: int
    name: str
    inputs: list[FedTensor]


class NamedTensor(TypedDict):
    """An input or output: the bundle's name and the file's own, and its shape with named dims."""

    name: str
    native: str
    dtype: str
    shape: list[int | str]
    layout: str


class Part(TypedDict):
    """What a program runs: a model, cases, outputs in the order of their numbers, and where answers go."""

    model: str
    answers: str
    cases: list[KitCase]
    outputs: list[NamedTensor]


def layout(shape: Sequence[int | str]) -> str:
    """How the numbers of a tensor lie: `NCHW` where the shape is that of images, else the axes as they are."""
    if len(shape) == 4 and shape[1] in (1, 3, 4):
        return "NCHW"
    if len(shape) == 4 and shape[3] in (1, 3, 4):
        return "NHWC"
    return "row-major"
