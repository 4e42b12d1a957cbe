"""How far those agree who rate the same: the share of pairs that say the same, and Krippendorff's alpha, which sets what they disagree
about against what chance would do. A unit is what was said of one thing; what somebody did not say is missing in it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product

from ...core.plural import many
from ...pages.words.amounts import NOTHING
from ..models import Label, LabelOf, LabelScale, LabelSet
from ..store.rating import choices_of, load_decided

Units = Sequence[Sequence[str]]
Distance = Callable[[str, str], float]
# The scale is drawn from 0 to 1: a tick at every tenth.
TENTH, BEGIN = 12, 3


class Metric(StrEnum):
    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"
    NONE = "none for words"


METRICS = {
    LabelScale.YES_NO: Metric.NOMINAL,
    LabelScale.CHOICE: Metric.NOMINAL,
    LabelScale.STEPS: Metric.ORDINAL,
    LabelScale.EVEN_STEPS: Metric.INTERVAL,
    LabelScale.WORDS: Metric.NONE,
}


def share_agreed(units: Units) -> float | None:
    """Of all pairs that speak of the same; None where there are none."""
    pairs = sum(len(unit) * (len(unit) - 1) for unit in units)
    alike = sum(n * (n - 1) for unit in units for n in Counter(unit).values())
    return alike / pairs if pairs else None


def alpha(units: Units, metric: Metric) -> float | None:
    """1 is full agreement, 0 is chance, below it is less. None where nobody can tell: too few, all the same, or words."""
    together = _coincidences(units)
    sums: defaultdict[str, float] = defaultdict(float)
    for (one, _), number in together.items():
        sums[one] += number
    distance, total = _distance(metric, sums), sum(sums.values())
    if distance is None:
        return None
    seen = sum(number * distance(one, other) for (one, other), number in together.items())
    by_chance = sum(sums[one] * sums[other] * distance(one, other) for one, other in product(sums, sums))
    return 1 - (total - 1) * seen / by_chance if by_chance else None


def _coincidences(units: Units) -> Mapping[tuple[str, str], float]:
    """How often two values stand together in a unit, each unit with the weight of its values."""
    found: defaultdict[tuple[str, str], float] = defaultdict(float)
    for unit in units:
        if len(unit) < 2:
            continue
        said = Counter(unit)
        for one, other in product(said, said):
            pairs = said[one] * (said[other] - (one == other))
            found[one, other] += pairs / (len(unit) - 1)
    return found


def _distance(metric: Metric, sums: Mapping[str, float]) -> Distance | None:
    match metric:
        case Metric.NOMINAL:
            return lambda one, other: float(one != other)
        case Metric.ORDINAL:
            return _ordinal(sums)
        case Metric.INTERVAL:
            return lambda one, other: (float(one) - float(other)) ** 2
        case Metric.NONE:
            return None


def _ordinal(sums: Mapping[str, float]) -> Distance:
    """As many as were said between the two, each of them by half."""
    places = sorted(sums, key=float)

    def distance(one: str, other: str) -> float:
        low, high = sorted((places.index(one), places.index(other)))
        between = sum(sums[value] for value in places[low : high + 1])
        return (between - (sums[places[low]] + sums[places[high]]) / 2) ** 2

    return distance


# In words


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """By one label. `items` were rated by two or more; `dot`: where alpha stands on its scale, None where it stands nowhere."""

    words: str
    scale: str
    metric: Metric
    alpha: str
    agreed: str
    items: int
    dot: float | None


@dataclass(frozen=True, slots=True)
class SetAgreement:
    label_set: LabelSet
    rows: Sequence[Agreement]
    ticks: Sequence[int] = tuple(range(BEGIN, BEGIN + 11 * TENTH, TENTH))


def agreement_in(label_set: LabelSet) -> SetAgreement:
    decided = load_decided(label_set)
    return SetAgreement(
        label_set, [_agreement_by(label, decided.get(label.pk, [])) for label in label_set.labels.all()]
    )


def _agreement_by(label: Label, units: Units) -> Agreement:
    metric = METRICS[LabelScale(label.scale)]
    found = alpha(units, metric)
    share = share_agreed(units) if metric is not Metric.NONE else None
    return Agreement(
        words=label.words,
        scale=scale_in_words(label),
        metric=metric,
        alpha=NOTHING if found is None else f"{found:.2f}".replace("-", "−"),
        agreed=NOTHING if share is None else f"{100 * share:.0f} %",
        items=sum(len(unit) > 1 for unit in units),
        dot=None if found is None else round(BEGIN + 10 * TENTH * max(0.0, found), 1),
    )


def scale_in_words(label: Label) -> str:
    match LabelScale(label.scale):
        case LabelScale.YES_NO:
            words = "yes, no"
        case LabelScale.CHOICE:
            words = f"one of {len(choices_of(label))}"
        case LabelScale.STEPS:
            words = "1 to 5"
        case LabelScale.EVEN_STEPS:
            words = "1 to 5, evenly apart"
        case LabelScale.WORDS:
            words = "words"
    return f"{words}, each thought" if label.of == LabelOf.THOUGHT else words


def labels_in_words(label_set: LabelSet, number: int) -> str:
    """`4 labels, 2 reviewers`, as one chooses it."""
    return f"{many(number, 'label')}, {many(label_set.raters, 'reviewer')}"
