"""Goldens that were changed: their numbers, their names, and a header that announces what is not there."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

GOLDEN = "golden.safetensors"


def numbers(bundle: Path, random: Random) -> str:
    """Some tensor holds other numbers."""
    path = bundle / GOLDEN
    tensors = load_file(path)
    name = random.choice(sorted(tensors))
    value = tensors[name].copy()
    way = random.choice(
        ("zeros", "sevens", "nan", "scaled", "one", "inf", "shuffled", "a little", "denormal", "payload")
    )
    if way == "one":
        value.reshape(-1)[random.randrange(value.size)] += 1
    elif way in ("nan", "inf") and value.dtype.kind == "f":
        value.reshape(-1)[random.randrange(value.size)] = float(way)
    elif way == "denormal" and value.dtype == np.float32:
        value = np.full_like(value, 1e-42)
    elif way == "payload" and value.dtype == np.float32:  # a NaN that carries bits
        value.reshape(-1).view(np.uint32)[random.randrange(value.size)] = 0xFFC0_BEEF
    elif way == "scaled":
        value = (value * 2).astype(value.dtype)
    elif way == "shuffled":
        value = np.random.default_rng(random.randrange(9)).permutation(value.reshape(-1)).reshape(value.shape)
    elif way == "a little":
        value = (value * (1 + 1e-3)).astype(value.dtype)
    else:
        value = np.full_like(value, 7 if way == "sevens" else 0)
    tensors[name] = value
    save_file(tensors, path)
    return f"{name}: {way}"


def names(bundle: Path, random: Random) -> str:
    """A tensor is called otherwise, is gone, has another shape or dtype, or comes twice."""
    path = bundle / GOLDEN
    tensors = load_file(path)
    name = random.choice(sorted(tensors))
    way = random.choice(("renamed", "gone", "flat", "float16", "int8", "empty", "another's", "more"))
    value = tensors.pop(name)
    if way == "renamed":
        tensors[name + random.choice(("x", "/", "\n", ""))] = value
    elif way == "flat":
        tensors[name] = value.reshape(-1)
    elif way in ("float16", "int8"):
        tensors[name] = value.astype(way)
    elif way == "empty":
        tensors[name] = value[:0]
    elif way == "another's":
        tensors[name] = tensors[random.choice(sorted(tensors))]
    elif way == "more":
        tensors |= {name: value, "batch=9/input/x": value, "": value}
    save_file(tensors, path)
    return f"{name}: {way}"


def header(bundle: Path, random: Random) -> str:
    """A header of another size, or of tensors that are larger than the file, lie in each other, or climb out of it."""
    path = bundle / GOLDEN
    content = path.read_bytes()
    begin = 8 + struct.unpack("<Q", content[:8])[0]
    told: dict[str, Any] = json.loads(content[8:begin])
    way = random.choice(("length", "huge", "terabytes", "overlap", "negative", "type", "null", "deep", "many", "gap"))
    name = random.choice(sorted(told))
    entry = told[name]
    if way == "huge":
        entry["data_offsets"] = [0, 1 << 62]
    elif way == "terabytes":
        entry |= {"shape": [1 << 40, 14], "data_offsets": [0, (1 << 40) * 14 * 4]}
    elif way == "overlap":
        entry["data_offsets"] = told[random.choice(sorted(told))].get("data_offsets", [0, 4])
    elif way == "negative":
        entry["shape"] = [-1, 4]
    elif way == "type":
        entry["dtype"] = random.choice(("F8_E4M3", "O", "", None, 7, "PICKLE"))
    elif way == "null":
        told[name] = random.choice((None, [], "", 7, {}))
    elif way == "many":
        told |= {f"x{number}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for number in range(50_000)}
    elif way == "gap":
        content += bytes(64)
    text = json.dumps(told).encode() if way != "deep" else b"[" * 100_000 + b"]" * 100_000
    length = random.choice((0, 1 << 40, (1 << 64) - 1, 7)) if way == "length" else len(text)
    path.write_bytes(struct.pack("<Q", length) + text + content[begin:])
    return f"header: {way} {name}"
