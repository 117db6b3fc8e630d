"""Meanings of benchmark metrics, a line each, and which direction is better."""

import tomllib
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import Literal

from pydantic import Field

from schemas.base import Noun

MEANINGS = resources.files("dashboards.views").joinpath("metric_meanings.toml")


class MetricMeaning(Noun):
    """One entry of `metric_meanings.toml`."""

    name: str = Field(
        min_length=1, description="Of a metric, or of several with a star for any text."
    )
    meaning: str = Field(min_length=1, description="What the value says, with its unit or range.")
    better: Literal["higher", "lower", ""] = Field(
        description="Empty where the value only describes."
    )


def meaning_of(metric: str) -> MetricMeaning | None:
    """Return the entry that fits best; None if there is none."""
    return next((one for one in _meanings() if fnmatchcase(metric, one.name)), None)


def meanings_of(metrics: Iterable[str]) -> tuple[MetricMeaning, ...]:
    """Return the entries of some metrics, each once, in order of first use."""
    return tuple(
        dict.fromkeys(meaning for metric in metrics if (meaning := meaning_of(metric)) is not None)
    )


@cache
def _meanings() -> tuple[MetricMeaning, ...]:
    """Return all entries, the most specific ones first."""
    entries = [
        MetricMeaning.model_validate(
            {"name": name, "meaning": meaning, "better": "" if better == "neither" else better}
        )
        for better, meanings in tomllib.loads(MEANINGS.read_text("utf-8")).items()
        for name, meaning in meanings.items()
    ]
    return tuple(sorted(entries, key=lambda one: ("*" in one.name, -len(one.name))))
