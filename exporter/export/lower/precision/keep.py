"""What `keep` names: layers, operators of the program by name, and kinds of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from exporter.base.errors import UsageError


@dataclass(frozen=True)
class Kept:
    """What stays in float32: layers with weights, and other operators by their names in the program."""

    layers: tuple[str, ...]
    operators: tuple[str, ...] = ()


@dataclass(frozen=True)
class Named:
    """What can be kept: the operator of each layer, and the kind of every operator, by name."""

    layers: Mapping[str, str]
    operators: Mapping[str, str]

    def resolve(self, keep: Collection[str]) -> Kept:
        """Return what these names mean; a kind means all operators of it.

        Raises:
            UsageError: a name is none of them.
        """
        of = {operator: layer for layer, operator in self.layers.items()}
        chosen = dict[str, None]()
        for name in keep:
            if name in self.layers:
                chosen[self.layers[name]] = None
            elif name in self.operators:
                chosen[name] = None
            elif name in self.operators.values():
                chosen |= {own: None for own, kind in self.operators.items() if kind == name}
            else:
                raise self._unknown(name)
        layers = tuple(of[operator] for operator in chosen if operator in of)
        return Kept(layers, tuple(operator for operator in chosen if operator not in of))

    def _unknown(self, name: str) -> UsageError:
        kinds = sorted(set(self.operators.values()))
        spelled = {known.lower(): known for known in (*kinds, *self.operators, *self.layers)}
        close = get_close_matches(name.lower(), spelled)
        first, *others = (f"'{spelled[known]}'" for known in close) if close else ("",)
        more = f" Near are also {', '.join(others)}." if others else ""
        listed = f"name a layer of the report, an operator, or one of the kinds {', '.join(kinds)}"
        return UsageError(
            f"no layer '{name}' with weights, no operator and no kind of operator of that name is in the program",
            where="keep",
            hint=f"did you mean {first}?{more}" if first else listed,
        )
