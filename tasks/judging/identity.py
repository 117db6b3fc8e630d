"""Identity of a run: what it asks, and what each thing that it needs adds.

A kind of work names its own options. Everything it needs adds the settings that can change what
comes of it. Workers, bounds, budgets, secrets and the places of files belong to no identity.
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
    """The id of a run of `kind`: the same for the same parts, which makes a command resumable."""
    return RunId(f"{kind}-{content_hash(*parts, length=12)}")


def prompts_of(steps: Iterable[Step[Any, Any]]) -> tuple[str, ...]:
    """Name, version and prompt of every step."""
    return tuple(f"{step.name}:{step.version}:{step.prompt_sha256}" for step in steps)


def model_identity(
    engine: EngineChoice, settings: Settings, api_base: str | None
) -> tuple[str, ...]:
    """The engine, where it answers, and the bounds of what it is asked and answers."""
    if engine.is_baseline:
        return (engine.text,)
    place = without_secrets(api_base) if api_base else ""
    return (engine.text, place, model_bounds(settings))


def model_bounds(settings: Settings) -> str:
    """Return how long what a model is asked and answers may be, in which form, and whether it
    thinks.
    """
    model = settings.language_model
    bounds = (model.structured_output, model.maximum_completion_tokens, model.context_tokens)
    return f"model {bounds} {model.thinking}"


def embedding_identity(settings: Settings) -> str:
    """The embedding model, and how much of a text it reads."""
    return f"embeddings {settings.embeddings.model} {settings.embeddings.maximum_tokens}"


def sampling_identity(profile: Profile) -> str:
    """Seed, temperature, and which model answers which step and how."""
    return profile.model_dump_json(include={"seed", "temperature", "judging"})


def seed_identity(profile: Profile) -> str:
    """The seed alone, where no model is asked."""
    return profile.model_dump_json(include={"seed"})


def search_identity(literature: str, settings: Settings) -> tuple[str, ...]:
    """Return what stands behind the gateway, the rules by which it is read, and the embedding
    model.

    Args:
        literature: with its fingerprint; empty: the run asks none.
    """
    return (literature, LITERATURE_RULES, embedding_identity(settings)) if literature else ()


def documents_identity(settings: Settings) -> str:
    """Return how full texts are read, and how much of them."""
    documents = settings.documents
    sources = f"{settings.grobid_url is not None} {settings.unpaywall_email is not None}"
    return f"documents {sources} {documents.maximum_bytes} {documents.maximum_pages}"
