"""Tools of a knowledge search for one idea."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from schemas.errors import ConfigurationError
from schemas.profile import CommitteeParameters
from schemas.settings import Settings
from tasks.committee.knowledge.reader import CodeHost, WebReader
from tasks.documents.document import DocumentLibrary
from tasks.embeddings import Embedder
from tasks.embeddings.local_model import PROCESS_LOCK
from tasks.literature.client import LiteratureClient
from tasks.sources.http_source import HttpSource
from tasks.sources.registry import open_sources
from tasks.sources.requests import SourceContext
from warehouse.stores.keyed_store import KeyedStore

_MODELS: dict[str, Any] = {}


class CrossEncoderReranker:
    """Model that scores pairs of query and text (InnoEval: bge-reranker-base).

    A sentence-transformers cross-encoder, loaded on first use and once per process.

    Raises (from `scores`):
        ConfigurationError: an unknown model, or unavailable files.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        return await asyncio.to_thread(self._scores, query, list(texts)) if texts else []

    def _scores(self, query: str, texts: list[str]) -> list[float]:
        import torch  # here: it takes seconds to import, and few runs have a reranker

        with PROCESS_LOCK:
            model = _MODELS.get(self._name) or _load_model(self._name)
            pairs = [(query, text) for text in texts]
            values = model.predict(pairs, activation_fn=torch.nn.Sigmoid(), show_progress_bar=False)
        return [
            round(float(value), 4) for value in np.asarray(values, dtype=np.float64).reshape(-1)
        ]


def _load_model(name: str) -> Any:
    from sentence_transformers import CrossEncoder  # here: it imports torch

    try:
        _MODELS[name] = CrossEncoder(name, device="cpu")
    except (OSError, ValueError) as error:
        detail = " ".join(str(error).split())[:200]
        raise ConfigurationError(
            f"reranker {name} cannot be loaded ({detail}): name a cross-encoder that can be had, or"
            " leave `committee.reranker` out"
        ) from error
    return _MODELS[name]


LITERATURE = "literature"
"""Name of the gateway in a profile's `sources`."""


@dataclass(frozen=True, slots=True)
class KnowledgeTools:
    """Tools of one idea; all of them write into its ledger.

    Attributes:
        sources: open sources by name, of those in the profile.
        reader: None: pages and repositories are not read.
        reranker: None: the order by embeddings is used.
    """

    literature: LiteratureClient
    documents: DocumentLibrary
    sources: Mapping[str, HttpSource]
    embedder: Embedder
    reader: WebReader | None = None
    reranker: CrossEncoderReranker | None = None


def open_knowledge_tools(
    settings: Settings,
    parameters: CommitteeParameters,
    *,
    literature: LiteratureClient,
    documents: DocumentLibrary,
    embedder: Embedder,
    source_context: SourceContext,
    store: KeyedStore | None,
    slots: asyncio.Semaphore,
    read_in_full: bool = True,
) -> KnowledgeTools:
    """Open the tools of one idea.

    Args:
        store: shared cache of pages and repositories; None: no cache.
        slots: limit of concurrent readings, shared by the ideas of a worker.
        read_in_full: False: no page or repository is fetched.

    Raises:
        ConfigurationError: the profile names a source that does not exist.
    """
    names = tuple(name for name in parameters.sources if name != LITERATURE)
    reader = WebReader(
        settings=settings.documents,
        ledger=source_context.ledger,
        code_host=CodeHost(settings, source_context),
        store=store,
        slots=slots,
    )
    return KnowledgeTools(
        literature=literature,
        documents=documents,
        sources={source.name: source for source in open_sources(settings, source_context, names)},
        embedder=embedder,
        reader=reader if read_in_full else None,
        reranker=CrossEncoderReranker(parameters.reranker) if parameters.reranker else None,
    )
