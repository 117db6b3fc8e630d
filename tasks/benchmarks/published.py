"""Figures that papers print, from `published.csv`, and how far the training data of models reach."""

import csv
import tomllib
from datetime import date
from importlib import resources

from schemas.choices import EngineChoice
from schemas.judgement.benchmark import BenchmarkScore

_FILES = resources.files("tasks.benchmarks")


def published_scores(suite: str) -> tuple[BenchmarkScore, ...]:
    """Return the published figures of a suite, in the order of the file.

    A `note` says how a figure was made. `sd`, the spread of items, becomes no interval: it says
    little about the mean's uncertainty without their number. Those of `injected_errors` are of
    systems that read other papers with errors of their own: for orientation, not as a contest.
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


def training_until(engine: EngineChoice, stated: date | None) -> date | None:
    """Return what the user states, else what the model's maker has published; None: not known, or
    no model judges.

    A model is listed in `training_data.toml` (the tables of LiteLLM do not tell) under its name,
    with or without the date of its release; a variant such as `-mini` is another model.
    """
    if engine.model is None:
        return None
    if stated is not None:
        return stated
    name = engine.model.rpartition("/")[2].casefold().replace("@", "-")
    listed: dict[str, date] = tomllib.loads(
        _FILES.joinpath("training_data.toml").read_text("utf-8")
    )["until"]
    return next((until for model, until in listed.items() if _is(name, model)), None)


def _is(name: str, model: str) -> bool:
    released = name.removeprefix(f"{model}-").replace("-", "")
    return name == model or (len(released) == len("20250131") and released.isdigit())
