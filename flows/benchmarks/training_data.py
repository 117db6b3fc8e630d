"""How far the training data of judges reach: a model that has read the right answers is no test."""

import tomllib
from datetime import date
from importlib import resources

from schemas.choices import EngineChoice


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
    file = resources.files("flows.benchmarks").joinpath("training_data.toml")
    listed: dict[str, date] = tomllib.loads(file.read_text("utf-8"))["until"]
    return next((until for model, until in listed.items() if _is(name, model)), None)


def _is(name: str, model: str) -> bool:
    released = name.removeprefix(f"{model}-").replace("-", "")
    return name == model or (len(released) == len("20250131") and released.isdigit())
