"""Values that are no places of the tables that they go to are told in the first seconds, in words, as usage errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import exporter, refused

MODEL = """
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words, self.lstm = nn.Embedding(20, 8), nn.LSTM(8, 6, direction="bidirect")

    def forward(self, ids, lengths):
        return self.lstm(self.words(ids), sequence_length=lengths)[0].mean(1)
"""
SPEC = """
name: places
model: models.places:Net
weights: factory
inputs:
  ids: {{dtype: int64, shape: [batch, seq], values: "{ids}"}}
  lengths: {{dtype: int64, shape: [batch], values: "{lengths}"}}
dims: {{batch: {{min: 1, typical: 2, max: 3}}, seq: {{min: 2, typical: 4, max: 6}}}}
formats: [pir]
"""


@pytest.mark.parametrize(
    ("ids", "lengths", "say"),
    [
        ("integers(20,30)", "integers(1,seq)", ("inputs.ids", "of 20 rows of words (Embedding)", "integers(0,20)")),
        ("integers(0,20)", "integers(50000,90000)", ("inputs.lengths", "of lstm (LSTM)", "integers(1,")),
    ],
    ids=["id", "length"],
)
def test_a_place_that_is_not_there(workplace: Path, ids: str, lengths: str, say: tuple[str, ...]) -> None:
    (workplace / "models/places.py").write_text(MODEL)
    (workplace / "net.yaml").write_text(SPEC.format(ids=ids, lengths=lengths))
    refused(exporter("release", "net.yaml", cwd=workplace), 2, *say)
