"""What `forward` of PaddleTS's networks is from tensor to tensor: they take a dict of what is known of a series."""

from __future__ import annotations

from typing import Any

from paddle import nn


class Past(nn.Layer):
    """Forecasts from the past alone; of two outputs the first, since the second is None or of the training."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network

    def forward(self, past):
        result = self.network({"past_target": past})
        return result[0] if isinstance(result, tuple) else result


class Covered(Past):
    """Forecasts that also see what is known of the past and the future, and what was observed in the past."""

    def forward(self, past, known, observed):
        result = self.network({"past_target": past, "known_cov_numeric": known, "observed_cov_numeric": observed})
        return result[0] if isinstance(result, tuple) else result


class Marked(Past):
    """Forecasts that see the past and the marks of time of past and future."""

    def forward(self, past, known):
        return self.network({"past_target": past, "known_cov_numeric": known})


class Static(Past):
    """The temporal fusion transformer, which also sees what does not change."""

    def forward(self, past, known, observed, kind):
        return self.network(
            {
                "past_target": past,
                "known_cov_numeric": known,
                "observed_cov_numeric": observed,
                "static_cov_numeric": kind,
            }
        )


class Observed(Past):
    """What looks for anomalies: the series as the network makes it again."""

    def forward(self, observed):
        result = self.network({"observed_cov_numeric": observed})
        return result[0] if isinstance(result, tuple) else result


class Both(Past):
    """MTAD-GAT: the next value, and the series made again."""

    def forward(self, observed):
        forecast, made = self.network({"observed_cov_numeric": observed})
        return forecast, made


class Features(Past):
    """What tells a kind of series."""

    def forward(self, features):
        return self.network({"features": features})


class Represented(Past):
    """TS2Vec: what stands for each place, with nothing masked."""

    def forward(self, series):
        return self.network(series, "all_true")
