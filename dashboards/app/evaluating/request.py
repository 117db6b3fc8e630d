"""What a reader asks to have evaluated on the page, and the command that does it."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import orjson
from pydantic import Field

from schemas.base import Noun
from schemas.choices import EXTRACTIVE, EngineChoice, LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.options import RunOptions
from schemas.run import Module
from schemas.settings import DashboardSettings

SHIPPED_PROFILES = ("economy", "faithful")
MAXIMUM_FILE_BYTES = 2_000_000


class EvaluateRequest(Noun):
    """One idea and how to evaluate it."""

    text: str = Field(min_length=1)
    title: str = ""
    cutoff_date: date | None = None
    profile: str = SHIPPED_PROFILES[0]
    engine: EngineChoice = EXTRACTIVE
    api_base: str | None = None
    literature: LiteratureChoice | None = Field(
        default=None, description="None: as this installation is configured."
    )
    modules: tuple[Module, ...] = (Module.SOUNDNESS, Module.CONTRIBUTION)
    maximum_cost_usd: float | None = Field(default=None, ge=0)


def write_idea(request: EvaluateRequest, path: Path) -> None:
    """Write the idea as a JSONL file of one line: the text never stands on a command line."""
    fields = {"text": request.text, "title": request.title.strip() or None}
    path.write_bytes(
        orjson.dumps({name: value for name, value in fields.items() if value is not None}) + b"\n"
    )


def check_offered(request: EvaluateRequest, offered: DashboardSettings) -> None:
    """Raises ConfigurationError when `request` asks for more than the form offers; a browser can
    send anything.
    """
    engines = {
        (EXTRACTIVE, None),
        *((EngineChoice(each.model), each.api_base) for each in offered.models.values()),
    }
    if (request.engine, request.api_base) not in engines:
        raise ConfigurationError(
            "this model or its server is not offered here: add it to ASSAY_DASHBOARD__MODELS"
        )
    if request.literature is not None and request.literature not in offered.literatures.values():
        raise ConfigurationError(
            "this literature is not offered here: add it to ASSAY_DASHBOARD__LITERATURES"
        )
    if request.profile not in SHIPPED_PROFILES:
        raise ConfigurationError(
            f"this profile is not offered here: choose from {', '.join(SHIPPED_PROFILES)}"
        )


def arguments(
    command: str, request: EvaluateRequest, ideas: Path, warehouse: Path, offered: DashboardSettings
) -> list[str]:
    """Arguments of `assay <command>` for `request`.

    Each value is joined to its option, so that none can pass for another option.

    Raises:
        ConfigurationError: the request asks for more than is offered.
    """
    check_offered(request, offered)
    options = RunOptions(
        warehouse=warehouse,
        profile=request.profile,
        engine=request.engine,
        api_base=request.api_base,
        literature=request.literature,
        modules=request.modules,
        cutoff=request.cutoff_date,
        max_cost_usd=request.maximum_cost_usd,
        workers=1,
    )
    return [command, str(ideas), *options.words(), "--json"]


def decoded(content: bytes) -> str | None:
    """The text of an uploaded file; None when it is not UTF-8 or holds no text."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return text if text.strip() and "\x00" not in text else None


def complaint(stderr: str | Sequence[str]) -> str:
    """The last line a failed command wrote, which says what is wrong."""
    lines = stderr.splitlines() if isinstance(stderr, str) else stderr
    said = [line.strip() for line in lines if line.strip()]
    return said[-1].removeprefix("assay: ") if said else "the command ended without a word"
