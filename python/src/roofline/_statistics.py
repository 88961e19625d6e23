"""The median and its interval, as in roofline's sampler (docs/method.md)."""

import math
from typing import List, Optional, Sequence, Tuple

Interval = Tuple[float, float]


def median(values: Sequence[float]) -> float:
    return quantile(sorted(values), 0.5)


def quantile(ascending: Sequence[float], share: float) -> float:
    place = share * (len(ascending) - 1)
    below = int(place)
    above = min(below + 1, len(ascending) - 1)
    return ascending[below] + (place - below) * (ascending[above] - ascending[below])


def _ranks(values: Sequence[float]) -> List[float]:
    """Ranks in order of time; equal values share the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    first = 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for at in range(first, last + 1):
            ranks[order[at]] = (first + last) / 2
        first = last + 1
    return ranks


def autocorrelation(values: Sequence[float]) -> float:
    """Lag-1 autocorrelation from ranks, so that outliers have no extra weight."""
    count = len(values)
    if count < 6:
        return 0.0
    middle = (count - 1) / 2
    ranks = [rank - middle for rank in _ranks(values)]
    variance = sum(rank * rank for rank in ranks)
    if variance == 0:
        return 0.0
    covariance = sum(a * b for a, b in zip(ranks, ranks[1:]))
    gaussian = 2 * math.sin(math.pi / 6 * covariance / variance)
    return max(-1.0, min(1.0, (count * gaussian + 1) / (count - 4)))  # the estimate is low by (1 + 4r) / n


def effective_samples(values: Sequence[float]) -> float:
    """Number of independent samples with the same information."""
    correlation = autocorrelation(values)
    return len(values) * (1 - correlation) / (1 + correlation) if correlation > 0 else float(len(values))


def _lowest_rank(count: int) -> int:
    """The largest l with P(binomial(count, 1/2) < l) <= 2.5 %; 0 if there is none."""
    below, rank = 0.0, 0
    while rank <= count:
        below += math.exp(math.lgamma(count + 1) - math.lgamma(rank + 1) - math.lgamma(count - rank + 1)
                          - count * math.log(2))
        if below > 0.025:
            return rank
        rank += 1
    return rank


def steady_interval(values: Sequence[float]) -> Interval:
    """The interval of the median of a part of a series after removing its slope; for few samples, their range."""
    half = len(values) // 2
    slope = (median(values[len(values) - half :]) - median(values[:half])) / (len(values) - half)
    middle = (len(values) - 1) / 2
    level = [value - slope * (at - middle) for at, value in enumerate(values)]
    return interval_of_median(level) or (min(level), max(level))


def interval_of_median(values: Sequence[float]) -> Optional[Interval]:
    """The 95 % interval of the median, for noise of any distribution; None for fewer than six independent samples."""
    ascending = sorted(values)
    effective = effective_samples(values)
    if effective < 6:
        return None
    # The ranks of as many independent samples, at the same share of all.
    rank = _lowest_rank(int(effective))
    share = rank / int(effective)
    low = max(0, math.ceil(share * len(ascending)) - 1)
    return ascending[low], ascending[len(ascending) - 1 - low]
