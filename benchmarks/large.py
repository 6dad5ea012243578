"""A network of 500 MB: nothing but wide linear layers."""

from __future__ import annotations

from typing import Any


def build() -> Any:
    """1,024 features in, 1,000 out, seven layers of 4,096 x 4,096 between."""
    from paddle import nn

    layers = [nn.Linear(1024, 4096), nn.ReLU()]
    for _ in range(7):
        layers += [nn.Linear(4096, 4096), nn.ReLU()]

    class Large(nn.Layer):  # type: ignore[misc]  # Paddle has no types
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(*layers, nn.Linear(4096, 1000))

        def forward(self, x: Any) -> Any:
            return self.body(x)

    return Large()
