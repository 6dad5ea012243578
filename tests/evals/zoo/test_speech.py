"""PaddleSpeech in the zoo: what holds without its checkout, and how its files are imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from evals.zoo.checkouts import variable
from evals.zoo.families import speech, speech_code, speech_layers
from tests.command import ROOT


def test_without_a_checkout_there_are_no_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(variable("speech"), raising=False)
    assert speech.networks() == []
    with pytest.raises(ModuleNotFoundError, match="no checkout of PaddleSpeech"):
        speech_code.module_of("s2t")


def test_every_entry_has_its_layer_and_sizes_for_its_dims() -> None:
    names = [entry.name for entry in speech.ENTRIES]
    assert len(set(names)) == len(names) > 40
    for entry in speech.ENTRIES:
        assert issubclass(getattr(speech_layers, entry.layer), speech_layers.Plain)
        assert all({"min", "typical", "max"} <= set(sizes) for sizes in entry.dims.values())


def test_a_file_is_imported_without_its_package(tmp_path: Path) -> None:
    models = tmp_path / "paddlespeech" / "t2s" / "models"
    models.mkdir(parents=True)
    (tmp_path / "paddlespeech" / "s2t").mkdir()
    (models / "__init__.py").write_text("raise ImportError('it loads clients')\n")
    (models / "voice.py").write_text("import soundfile\nfrom librosa import load\nVOICE = soundfile, load\n")
    code = (
        "from evals.zoo.families.speech_code import module_of\nprint(module_of('t2s.models.voice').VOICE[0].__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={variable("speech"): str(tmp_path), "PATH": "", "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["soundfile"], done.stderr
