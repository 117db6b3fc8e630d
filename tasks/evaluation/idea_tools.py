"""What one idea's evaluation works with."""

from dataclasses import dataclass

from tasks.accounting.ledger import Ledger
from tasks.committee.knowledge.tools import KnowledgeTools
from tasks.documents.sections import DocumentLibrary
from tasks.embeddings import Embedder
from tasks.judging.step import Engine
from tasks.literature.client import LiteratureClient


@dataclass(frozen=True, slots=True)
class IdeaTools:
    """All of it writes into the same ledger.

    `knowledge` is None unless the committee is asked for.
    """

    engine: Engine
    literature: LiteratureClient
    documents: DocumentLibrary
    embedder: Embedder
    ledger: Ledger
    knowledge: KnowledgeTools | None = None
