"""What others have published: figures of papers, read from `published/<suite>.toml` (paper, table,
row, column, number), and how far the training data of models reach.
"""

import tomllib
from datetime import date
from importlib import resources

from schemas.choices import EngineChoice
from schemas.judgement.benchmark import BenchmarkScore

_KEYS = ("paper", "table", "row", "system", "metric", "value")


def published_scores(suite: str) -> tuple[BenchmarkScore, ...]:
    """The published figures of a suite, in the order of its file; none when it has no file.

    Each `[[figure]]` has a paper, table, row, system, metric and value; optionally a `slice`, a
    `count`, a `note` on how it was made, and `sd`, which becomes no interval: the spread of items
    says little about the mean's uncertainty without their number.

    Raises:
        ValueError: an entry lacks a key.
    """
    file = resources.files("tasks.benchmarks.published").joinpath(f"{suite}.toml")
    if not file.is_file():
        return ()
    return tuple(
        _score(suite, entry) for entry in tomllib.loads(file.read_text("utf-8")).get("figure", ())
    )


def _score(suite: str, entry: dict[str, object]) -> BenchmarkScore:
    missing = [key for key in _KEYS if key not in entry]
    if missing:
        raise ValueError(f"a published figure of {suite} lacks {', '.join(missing)}: {entry}")
    spread = f", SD {entry['sd']}" if "sd" in entry else ""
    note = f" ({entry['note']})" if "note" in entry else ""
    return BenchmarkScore(
        suite=suite,
        metric=str(entry["metric"]),
        slice=str(entry.get("slice", "all")),
        system=str(entry["system"]),
        value=float(str(entry["value"])),
        count=int(str(entry.get("count", 0))),
        published_source=f"{entry['paper']}, {entry['table']}, {entry['row']}{spread}{note}",
    )


def training_until(engine: EngineChoice, stated: date | None) -> date | None:
    """What the user states, else what the model's maker has published (`training_data.toml`; the
    tables of LiteLLM do not tell). None: not known, or no model judges.

    A model is listed under its name, with or without the date of its release; a variant such as
    `-mini` is another model.
    """
    if engine.model is None:
        return None
    if stated is not None:
        return stated
    name = engine.model.rpartition("/")[2].casefold().replace("@", "-")
    file = resources.files("tasks.benchmarks").joinpath("training_data.toml")
    listed: dict[str, date] = tomllib.loads(file.read_text("utf-8"))["until"]
    return next((until for model, until in listed.items() if _is(name, model)), None)


def _is(name: str, model: str) -> bool:
    released = name.removeprefix(f"{model}-").replace("-", "")
    return name == model or (len(released) == len("20250131") and released.isdigit())
