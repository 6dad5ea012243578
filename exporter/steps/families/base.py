"""The contract of a family: which steps its configuration files name, in the words of this exporter.

A file is named as `FAMILY:FILE` or `FAMILY:FILE#PART`. Both kinds of a family's files are read: the configuration that
trains and evaluates a model, and the file that its runtimes read beside one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

from exporter.base.errors import UsageError, did_you_mean
from exporter.steps.configuration import Configuration
from exporter.steps.kinds.normalize import fraction

#: The plain data of steps, as a spec has them.
Entries: TypeAlias = list[Any]

#: OpenCV's numbers of interpolations (`cv2.INTER_*`), and the families' words for them.
INTERPOLATIONS: Mapping[Any, str] = {
    **{0: "nearest", 1: "linear", 2: "cubic", 3: "area", 4: "lanczos"},
    **{"nearest": "nearest", "linear": "linear", "bilinear": "linear", "cubic": "cubic", "bicubic": "cubic"},
    **{"area": "area", "box": "area", "lanczos": "lanczos", "lanczos4": "lanczos"},
}


class WrongOption(UsageError):
    """An option of an operator has no value that any family takes: the file is damaged."""


@dataclass
class Options:
    """The options of one operator of a family; each is taken once, and what nobody takes is an error.

    So an option that changes the numbers is never passed over. `above` are options of all operators, which take the
    place of their own.
    """

    name: str
    given: dict[str, Any]
    where: str
    above: Configuration = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def take(self, key: str, default: Any = None) -> Any:
        """The value of an option, or what the family takes without it."""
        self.taken.add(key)
        value = self.above.get(key, self.given.get(key))
        return default if value is None else value

    def has(self, key: str) -> bool:
        """Whether an option has a value that counts as true; it is not taken by that."""
        return bool(self.above.get(key, self.given.get(key)))

    def ignore(self, *keys: str) -> None:
        """These have no effect on the numbers."""
        self.taken.update(keys)

    def refuse(self, what: str) -> UsageError:
        """An error about this operator."""
        hint = "write it as a function: `module:function` in the list of steps"
        return UsageError(f"{self.name}: {what}", where=self.where, hint=hint)

    def wrong(self, what: str) -> WrongOption:
        """An error about an option that is damaged."""
        return WrongOption(f"{self.name}: {what}", where=self.where, hint="correct the option")

    def pair(self, key: str) -> tuple[int, int]:
        """Two sizes: one number stands for both.

        Raises:
            WrongOption: it is neither one whole number nor two.
        """
        value = self.take(key)
        sizes = [value, value] if isinstance(value, int) else value
        if not (isinstance(sizes, list) and len(sizes) == 2 and all(isinstance(size, int) for size in sizes)):
            raise self.wrong(f"`{key}` is {value!r}, which is neither a size nor two")
        return sizes[0], sizes[1]

    def interpolation(self, key: str, default: Any = "linear") -> str:
        """The interpolation that an option names.

        Raises:
            UsageError: it is none that every run takes alike.
        """
        value = self.take(key, default)
        name = INTERPOLATIONS.get(value.lower() if isinstance(value, str) else value)
        if name is None:
            raise self.refuse(f"`{key}` is {value!r}, which names no interpolation that is the same in every run")
        return name

    def scale(self, default: float) -> float:
        """The factor that `scale` names, which may be written `1./255.`.

        Raises:
            WrongOption: it is no number.
        """
        value = self.take("scale", default)
        try:
            return fraction(value) if isinstance(value, str) else float(value)
        except (TypeError, ValueError) as error:
            raise self.wrong(f"`scale` is {value!r}, which is no number") from error

    def numbers(self, key: str, default: Sequence[float]) -> list[float]:
        """One number for each channel.

        Raises:
            WrongOption: they are no numbers.
        """
        value = self.take(key, list(default))
        listed = value if isinstance(value, list) else [value]
        if not all(isinstance(number, (int, float)) for number in listed):
            raise self.wrong(f"`{key}` is {value!r}, which are no numbers")
        return [float(number) for number in listed]


#: Makes steps of one operator; none where it changes nothing in deployment, as encoders of labels.
Reader: TypeAlias = Callable[[Options], Entries]


def nothing(options: Options) -> Entries:
    """An operator without effect on the inputs of the model."""
    options.ignore(*options.given)
    return []


def at_random(options: Options) -> Entries:
    """An operator that draws, which no deployment repeats."""
    raise UsageError(
        f"{options.name} draws at random, so no deployment can do the same",
        where=options.where,
        hint="name the part that evaluates: FILE#Eval, or write the steps themselves",
    )


def without_step(why: str) -> Reader:
    """Return the reader of an operator that no step of one picture can do; `why` ends the sentence 'NAME …'."""

    def refuse(options: Options) -> Entries:
        raise UsageError(
            f"{options.name} {why}",
            where=options.where,
            hint="write it as a function: `module:function` in the list of steps, or name another part: FILE#PART",
        )

    return refuse


def translated(listed: Any, readers: Mapping[str, Reader], where: str, above: Configuration | None = None) -> Entries:
    """The steps of a list of operators, each `NAME`, `{NAME: options}` or `{type: NAME, option: …}`.

    `above` are options that take the place of every operator's own.

    Raises:
        UsageError: an operator is unknown here, or has an option that is.
    """
    if not isinstance(listed, list):
        raise UsageError("it holds no list of operators", where=where, hint="name another part: FILE#PART")
    entries: Entries = []
    for at, operator in enumerate(listed):
        name, given = named(operator, f"{where}[{at}]")
        options = Options(name, given, f"{where}[{at}]", above or {})
        if name not in readers:
            hint = did_you_mean(name, readers, "or write it as a function: `module:function` in the list of steps")
            raise UsageError(f"no step is known for the operator {name}", where=options.where, hint=hint)
        try:
            entries += readers[name](options)
        except (TypeError, ValueError, OverflowError) as error:  # `max_len: abc`, or none
            raise options.wrong(f"an option is missing or wrong: {error}") from error
        if rest := sorted(set(given) - options.taken):
            raise options.refuse(f"nothing is known of its option `{rest[0]}`")
    return entries


def named(operator: Any, where: str) -> tuple[str, dict[str, Any]]:
    """The name of an operator, and its options.

    Raises:
        WrongOption: it has none of the three forms.
    """
    if isinstance(operator, str):
        return operator, {}
    if isinstance(operator, dict) and "type" in operator:
        return str(operator["type"]), {key: value for key, value in operator.items() if key != "type"}
    if isinstance(operator, dict) and len(operator) == 1:
        ((name, given),) = operator.items()
        if isinstance(given or {}, dict):
            return str(name), dict(given or {})
    raise WrongOption("it is no operator with its options", where=where, hint="correct the configuration")


def inside(content: Any, *path: str) -> Any:
    """What lies at a path of nested mappings; None where it ends before."""
    for key in path:
        content = content.get(key) if isinstance(content, Mapping) else None
    return content


class FamilySteps(ABC):
    """`parts` are the names that may stand behind `#`, with the path to their list of operators.

    The first part that a file has is taken where none is named. `readers` are the operators that steps are known for;
    `values` say, by their names, what inputs hold that are no pictures.
    """

    parts: ClassVar[Mapping[str, Sequence[str]]]
    readers: ClassVar[Mapping[str, Reader]] = {}
    values: ClassVar[Mapping[str, str]] = {}

    #: What the picture is called among the inputs of the layer that the family exports, and what stands beside it.
    picture: ClassVar[str] = "x"
    beside: ClassVar[Sequence[str]] = ()

    def exported_parts(self, content: Configuration) -> Sequence[str]:
        """The parts that a file has, first the one whose steps the exported net is given."""
        return [
            name
            for name, keys in self.parts.items()
            if name.lower() != "train" and isinstance(inside(content, *keys), list)
        ]

    def readers_of(self, content: Configuration, part: str) -> Mapping[str, Reader]:
        """The readers of the operators that a file's part lists."""
        del content, part
        return self.readers

    @abstractmethod
    def before(self, content: Configuration, part: str, place: Place) -> Entries:
        """Return the steps before the model of a file's `part`, one of those that it has.

        Raises:
            UsageError: an operator has no step here.
        """

    @abstractmethod
    def after(self, content: Configuration, part: str, place: Place) -> Entries:
        """Return the steps after the model that a file's `part` stands for.

        Raises:
            UsageError: what the file names after the model has no step here.
        """


@dataclass(frozen=True)
class Place:
    """Where a file lies, and what it is called in errors; files that it names are looked for there."""

    file: Path
    name: str

    def lines(self, given: str, encoding: Literal["utf-8", "utf-8-sig"] = "utf-8-sig") -> list[str]:
        """Return the lines of a dictionary that a configuration names, seen from its folder, those above it, or here.

        An empty line counts as well: PaddleOCR and PaddleX make a class of each (ppocr 3.1, `BaseRecLabelDecode`). So
        does a byte order mark with `utf-8`: there it is a part of the first character.

        Raises:
            UsageError: there is no such file, or it is no UTF-8.
        """
        for folder in (Path(), self.file.parent, *self.file.parent.parents):
            if (path := folder / given).is_file():
                try:
                    text = path.read_bytes().decode(encoding)
                except UnicodeDecodeError as error:
                    what = f"the dictionary is no UTF-8 at byte {error.start}"
                    raise UsageError(what, where=str(path), hint="save the file as UTF-8") from error
                lines = text.split("\n")
                return [line.strip("\r") for line in (lines if lines[-1] else lines[:-1])]
        hint = "give the path as seen from the configuration, or from here"
        raise UsageError(f"it names the dictionary {given}, which is not there", where=self.name, hint=hint)
