"""A chain of steps: read from the plain data of a spec, and run on a state, step by step.

An entry is the name of a kind, `NAME: {options}`, or a function of the user's: `module:function`, or
`module:function: {arguments}`. A function takes the value (and its arguments by name) and returns an array, or a
mapping of arrays that are put into the state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import ValidationError

from exporter.base.errors import UsageError, first_fault
from exporter.base.references import load_object, split, user_code
from exporter.base.registry import Registry
from exporter.steps.base import VALUE, State, Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array

KINDS: Registry[type[Step]] = Registry("exporter.steps", "step")


@dataclass(frozen=True)
class Declared:
    """A step of a known kind, which runs without the user's code."""

    name: str
    step: Step

    def data(self) -> Any:
        """What a spec says."""
        options = self.step.options()
        return {self.name: options} if options else self.name

    def __str__(self) -> str:
        return self.name

    def apply(self, state: State) -> dict[str, Array]:
        """The state after it; raises UsageError where the step cannot take the state."""
        return self.step.apply(state)


@dataclass(frozen=True)
class Function:
    """A step of the user's own; running it imports their code, so it belongs in a child."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def data(self) -> Any:
        """What a spec says."""
        return {self.name: dict(self.arguments)} if self.arguments else self.name

    def __str__(self) -> str:
        return self.name

    def apply(self, state: State) -> dict[str, Array]:
        """Call it; raises UsageError, with the line of the user's, for what it raises, or where it gives no array."""
        import numpy as np

        function = load_object(self.name)
        with user_code(f"{self.name} failed", self.name):
            result = function(_given(state), **self.arguments)
            made = result if isinstance(result, Mapping) else {VALUE: result}
            arrays = {str(name): np.asarray(value) for name, value in made.items()}
        for name, value in arrays.items():
            if value.dtype.kind not in "biuf":
                what = f"gives '{name}' of dtype {value.dtype}, which is neither numbers nor bytes"
                raise UsageError(what, where=self.name, hint="return a numpy array of numbers")
        return {**state, **arrays}


def _given(state: State) -> Any:
    """A copy of what a function of the user's gets: the value, or the whole state where it holds more."""
    import numpy as np

    copies = {name: np.array(value) for name, value in state.items()}
    return copies[VALUE] if set(copies) == {VALUE} else copies


Link: TypeAlias = Declared | Function
Chain: TypeAlias = tuple[Link, ...]


def read_chain(data: Sequence[Any], where: str = "") -> Chain:
    """The chain that plain data describes.

    Raises:
        UsageError: a step is unknown (the hint names the closest), or an option of it is wrong.
    """
    return tuple(_read(entry, f"{where}[{at}]") for at, entry in enumerate(data))


def _read(entry: Any, where: str) -> Link:
    if isinstance(entry, Mapping) and len(entry) == 1:
        ((name, options),) = entry.items()
    else:
        name, options = entry, {}
    if not isinstance(name, str) or not isinstance(options or {}, Mapping):
        what = "a step is a name, or one name with a mapping of its options"
        raise UsageError(what, where=where, hint="write it as `resize: {height: 224, width: 224}`")
    if ":" in name:
        split(name)
        return Function(name, dict(options or {}))
    try:
        return Declared(name, KINDS[name].model_validate(dict(options or {})))
    except ValidationError as error:
        place, fault = first_fault(error)
        fields = ", ".join(KINDS[name].model_fields) or "none"
        said = f"{place}: {fault}" if place else fault.removeprefix("Value error, ")
        raise UsageError(f"{name}: {said}", where=where, hint=f"correct it; its options: {fields}") from error
    except UsageError as error:
        raise UsageError(error.what, where=where, hint=error.hint) from error


def data_of(chain: Chain) -> list[Any]:
    """The plain data of a chain, as a spec has it."""
    return [link.data() for link in chain]


def steps_of(chain: Chain, state: State, name: str = "", start: int = 0) -> Iterator[State]:
    """The state after each step; `start` is how many steps came before the chain.

    Raises:
        UsageError: a step cannot take what the one before gave; `name` is what the chain is called in the error.
        EnvironmentLacks: a step needs a package that is not installed.
    """
    now: State = state
    for at, link in enumerate(chain):
        try:
            after = link.apply(now)
        except UsageError as error:
            place = f"{name} step {start + at + 1} ({link})".lstrip()
            where = f"{place}: {error.where}" if error.where and error.where != link.name else place
            raise UsageError(error.what, where=where, hint=error.hint) from error
        yield after
        now = after


def replaced(chain: Chain, at: int, *links: Link) -> Chain:
    """The chain with the step at `at` replaced by others, or left out where none is given."""
    return (*chain[:at], *links, *chain[at + 1 :])


def with_options(link: Declared, **options: Any) -> Declared:
    """The step with other options.

    Raises:
        ValidationError: they do not fit each other.
    """
    return replace(link, step=type(link.step).model_validate({**link.step.options(), **options}))
