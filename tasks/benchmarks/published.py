"""Published scores from `published.csv`, and training cutoffs of models."""

import csv
import tomllib
from datetime import date
from importlib import resources

from schemas.choices import EngineChoice
from schemas.judgement.benchmark import BenchmarkScore

_FILES = resources.files("tasks.benchmarks")


def published_scores(suite: str) -> tuple[BenchmarkScore, ...]:
    """Return the published scores of a suite, in file order.

    `sd` is the standard deviation over items. It gives no interval of the mean, because the number
    of items is often unknown. Scores of `injected_errors` are from other papers with other errors, and not directly
    comparable.
    """
    rows = csv.DictReader(_FILES.joinpath("published.csv").read_text("utf-8").splitlines())
    return tuple(_score(row) for row in rows if row["suite"] == suite)


def _score(row: dict[str, str]) -> BenchmarkScore:
    spread = f", SD {float(row['sd'])}" if row["sd"] else ""
    note = f" ({row['note']})" if row["note"] else ""
    return BenchmarkScore(
        suite=row["suite"],
        metric=row["metric"],
        slice=row["slice"] or "all",
        system=row["system"],
        value=float(row["value"]),
        count=int(row["count"] or 0),
        published_source=f"{row['paper']}, {row['table']}, {row['row']}{spread}{note}",
    )


def training_until(engine: EngineChoice, user_date: date | None) -> date | None:
    """Return the training cutoff of a model, None if unknown.

    The user's value takes precedence over the maker's.

    `training_data.toml` lists models by name, with or without release date (LiteLLM's tables have
    no cutoffs); a variant such as `-mini` is another model.
    """
    if engine.model is None:
        return None
    if user_date is not None:
        return user_date
    name = engine.model.rpartition("/")[2].casefold().replace("@", "-")
    until_by_model: dict[str, date] = tomllib.loads(
        _FILES.joinpath("training_data.toml").read_text("utf-8")
    )["until"]
    return next((until for model, until in until_by_model.items() if _is(name, model)), None)


def _is(name: str, model: str) -> bool:
    date_suffix = name.removeprefix(f"{model}-").replace("-", "")
    return name == model or (len(date_suffix) == len("20250131") and date_suffix.isdigit())
