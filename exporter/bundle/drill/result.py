"""What came of a drill: each fault with the proofs that saw it, and what that makes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from exporter.bundle.drill.fault import Fault
from exporter.prove.verdict.claim import PASSING

CAUGHT, EQUIVALENT, SURVIVED = "caught", "equivalent", "survived"
#: Proofs that need the bundle's own digests, or the machine that recorded the goldens. All others look from outside:
#: at the interface and at what came out.
INSIDE = frozenset({"parameters", "bits"})


@dataclass(frozen=True)
class Planted:
    """One fault, and what was seen of it.

    `proofs` holds the first reason of each proof that saw it. `error_ratio` is the worst that any engine showed;
    `effect` how far the fault moves the outputs in float64, in units of eager's own error: None where that was not
    asked or could not be measured (`why_not`). `verified` is what the whole of `verify` said, where it was asked.
    """

    fault: Fault
    proofs: Mapping[str, str]
    error_ratio: float
    effect: float | None = None
    why_not: str = ""
    verified: str = ""

    @property
    def fate(self) -> str:
        """`caught` by any proof; else `equivalent` where it was measured to be harmless; else `survived`."""
        return CAUGHT if self.proofs else self._unseen()

    @property
    def fate_outside(self) -> str:
        """The same, judged from outside: without the proofs by parameters and by bits."""
        return CAUGHT if set(self.proofs) - INSIDE else self._unseen()

    @property
    def disagrees(self) -> bool:
        """Whether `verify` said otherwise than the drill. Differing bits alone do not fail a verdict."""
        return bool(self.verified) and (self.verified in PASSING) == bool(set(self.proofs) - {"bits"})

    def why(self, budget: float) -> str:
        """Why nothing saw it."""
        if not self.fault.numeric:
            return "every output that came was right, and so is what the file declares"
        ratio = f"its error ratio is at most {self.error_ratio:.3g} of a budget of {budget:g}"
        if self.effect is None:
            return f"{ratio}; its true effect could not be measured: {self.why_not}"
        return f"{ratio}; without rounding it moves the outputs by {self.effect:.3g} times eager's own error"

    def _unseen(self) -> str:
        harmless = self.fault.numeric and self.effect is not None and self.effect <= 1
        return EQUIVALENT if harmless else SURVIVED


@dataclass(frozen=True)
class Drilled:
    """All faults of one drill; `digest` is that of the bundle which was drilled."""

    name: str
    version: str
    budget: float
    planted: Sequence[Planted]
    notes: Sequence[str] = ()
    digest: str = ""

    @property
    def passed(self) -> bool:
        """Faults were planted, none survived, and `verify` said the same wherever it was asked."""
        return bool(self.planted) and not any(one.fate == SURVIVED or one.disagrees for one in self.planted)

    def to_json(self) -> dict[str, object]:
        """The object that `--json` prints."""
        verified = [one for one in self.planted if one.verified]
        return {
            "planted": len(self.planted),
            "caught": self._count(CAUGHT),
            "equivalent": self._count(EQUIVALENT),
            "survived": [self._told(one) for one in self.planted if one.fate == SURVIVED],
            "by_proof": dict(sorted(Counter(proof for one in self.planted for proof in one.proofs).items())),
            "only_by": dict(sorted(Counter(next(iter(p)) for p in self._proofs() if len(p) == 1).items())),
            "from_outside": dict(Counter(one.fate_outside for one in self.planted)),
            "through_verify": {
                "asked": len(verified),
                "disagree": [self._told(one) for one in verified if one.disagrees],
            },
            "faults": [
                {
                    "fault": str(one.fault),
                    "variant": one.fault.variant,
                    "fate": one.fate,
                    "fate_from_outside": one.fate_outside,
                    "proofs": dict(one.proofs),
                    "error_ratio": one.error_ratio,
                    "effect": one.effect,
                    "why_not": one.why_not,
                }
                for one in self.planted
            ],
            "notes": list(self.notes),
        }

    def rows(self) -> list[list[str]]:
        """A row for each kind of fault, and one for all; a column for each variant. The first row has their names."""
        variants = sorted({one.fault.variant for one in self.planted})
        kinds = list(dict.fromkeys((one.fault.family, one.fault.kind) for one in self.planted))
        rows = [["fault", *variants]]
        for family, kind in sorted(kinds):
            alike = [one for one in self.planted if (one.fault.family, one.fault.kind) == (family, kind)]
            cells = [_cell([one for one in alike if one.fault.variant == variant]) for variant in variants]
            rows.append([f"{family}: {kind}", *cells])
        rows.append(["all", *(_cell([one for one in self.planted if one.fault.variant == v]) for v in variants)])
        return rows

    def words(self) -> list[str]:
        """What the rows do not tell: how many were caught, what saw them, and each that survived."""
        by_proof = Counter(proof for one in self.planted for proof in one.proofs)
        proofs = ", ".join(f"{proof} {count}" for proof, count in sorted(by_proof.items())) or "none"
        outside = Counter(one.fate_outside for one in self.planted)
        noted = sum(set(one.proofs) == {"bits"} for one in self.planted)
        verified = [one for one in self.planted if one.verified]
        words = [
            f"{len(self.planted)} planted: {self._count(CAUGHT)} caught, {self._count(EQUIVALENT)} equivalent "
            f"(the true effect is below eager's own rounding), {self._count(SURVIVED)} survived",
            f"seen by: {proofs}",
            f"without the proofs by parameters and by bits: {outside[CAUGHT]} caught, "
            f"{outside[EQUIVALENT]} equivalent, {outside[SURVIVED]} survived",
        ]
        if noted:
            words.append(f"{noted} were seen by their bits alone: verify says so in a note, and its verdict passes")
        if verified:
            words.append(f"{len(verified)} went through verify: {sum(one.disagrees for one in verified)} disagree")
        strange = [one for one in verified if one.disagrees]
        words += [f"DISAGREES {one.fault.variant} {one.fault}: verify says {one.verified}" for one in strange]
        words += [f"SURVIVED {told['variant']} {told['fault']}: {told['why']}" for told in self._survivors()]
        return words + [f"note: {note}" for note in self.notes]

    def _survivors(self) -> list[dict[str, str]]:
        return [self._told(one) for one in self.planted if one.fate == SURVIVED]

    def _told(self, one: Planted) -> dict[str, str]:
        why = f"verify says {one.verified}" if one.disagrees else one.why(self.budget)
        return {"fault": str(one.fault), "variant": one.fault.variant, "why": why}

    def _count(self, fate: str) -> int:
        return sum(one.fate == fate for one in self.planted)

    def _proofs(self) -> list[Mapping[str, str]]:
        return [one.proofs for one in self.planted]


def _cell(planted: Sequence[Planted]) -> str:
    """`caught/planted`, with what else there was."""
    if not planted:
        return "-"
    fates = Counter(one.fate for one in planted)
    text = f"{fates[CAUGHT]}/{len(planted)}"
    rest = [f"{fates[fate]} {fate}" for fate in (EQUIVALENT, SURVIVED) if fates[fate]]
    return f"{text} ({', '.join(rest)})" if rest else text
