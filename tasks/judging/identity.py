"""Identity of a run: the parts from which its id is computed.

A kind of work adds its options, and each declared need the settings that can change the result.
Workers, bounds, budgets, secrets and file locations are not part of it.
"""

from collections.abc import Iterable
from typing import Any

from schemas.choices import EngineChoice
from schemas.identifiers import RunId, content_hash
from schemas.literature.paper import LITERATURE_RULES
from schemas.profile import Profile
from schemas.settings import Settings
from tasks.judging.step import Step
from warehouse.scrubbing import without_secrets


def run_id_of(kind: str, *parts: str) -> RunId:
    """Return the id of a run of `kind`.

    Equal parts give equal ids, so that commands resume.
    """
    return RunId(f"{kind}-{content_hash(*parts, length=12)}")


def prompts_of(steps: Iterable[Step[Any, Any]]) -> tuple[str, ...]:
    """Return name, version and prompt hash of every step."""
    return tuple(f"{step.name}:{step.version}:{step.prompt_sha256}" for step in steps)


def model_identity(
    engine: EngineChoice, settings: Settings, api_base: str | None
) -> tuple[str, ...]:
    """Return the engine, its address, and the bounds of prompts and replies."""
    if engine.is_baseline:
        return (engine.text,)
    place = without_secrets(api_base) if api_base else ""
    return (engine.text, place, model_bounds(settings))


def model_bounds(settings: Settings) -> str:
    """Return output mode, length bounds and thinking of a model as text."""
    model = settings.language_model
    # None: a limit of replies was set here once, and keys of earlier runs contain its default.
    bounds = (model.structured_output, None, model.context_tokens)
    return f"model {bounds} {model.thinking}"


def embedding_identity(settings: Settings) -> str:
    """Return the embedding model and its length limit."""
    return f"embeddings {settings.embeddings.model} {settings.embeddings.maximum_tokens}"


def sampling_identity(profile: Profile) -> str:
    """Return seed, temperature and the models assigned to steps."""
    return profile.model_dump_json(include={"seed", "temperature", "judging"})


def seed_identity(profile: Profile) -> str:
    """Return the seed, for work without a model."""
    return profile.model_dump_json(include={"seed"})


def search_identity(literature: str, settings: Settings) -> tuple[str, ...]:
    """Return the literature, the rules for reading it, and the embedding model.

    Args:
        literature: name with fingerprint; empty: the run uses none.
    """
    return (literature, LITERATURE_RULES, embedding_identity(settings)) if literature else ()


def documents_identity(settings: Settings) -> str:
    """Return the sources and bounds of full texts."""
    documents = settings.documents
    sources = f"{settings.grobid_url is not None} {settings.unpaywall_email is not None}"
    return f"documents {sources} {documents.maximum_bytes} {documents.maximum_pages}"
