"""The base class of all sources.

It turns queries into requests and pages into answers.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from schemas.failure import SourceFailure
from schemas.literature.knowledge import KnowledgeAnswer, KnowledgeItem, SourceKind, SourceQuery
from schemas.reasons import Reason
from schemas.settings import Settings, SourceSettings
from schemas.text.patterns import bounded
from tasks.literature.publication import is_discussion
from tasks.sources.fields import Row, batches, clean_doi, json_of, one_line, rows_of
from tasks.sources.requests import Question, Reply, SourceContext, SourceRequests, Upstream

_SYNTAX = bounded(r"[^\w\s'.+#&/-]|_")
_LEADING, _TRAILING = "-+'./&#", "-'./&"
_OPERATORS = frozenset({"AND", "OR", "NOT", "ANDNOT", "NEAR", "TO"})


@dataclass(frozen=True, slots=True)
class Wording:
    """The words to send; `shortening` describes a cut, None: not cut."""

    text: str
    shortening: str | None = None


def shortened(text: str, maximum_characters: int, maximum_words: int | None = None) -> Wording:
    """Cut `text` to both limits on one line, after a whole word if possible."""
    words = one_line(text).split(" ")
    full_text = " ".join(words)
    text_within = " ".join(words[:maximum_words] if maximum_words else words)
    if len(text_within) > maximum_characters:
        head = text_within[: maximum_characters + 1]
        text_within = head.rpartition(" ")[0] or text_within[:maximum_characters]
    if text_within == full_text:
        return Wording(full_text)
    most_words = f" and {maximum_words} words" if maximum_words else ""
    return Wording(
        text_within,
        f"query cut from {len(full_text)} to {len(text_within)} characters, from {len(words)} to"
        f" {len(text_within.split())} words: the limit is {maximum_characters} characters{most_words}",
    )


def plain_words(text: str) -> str:
    """Remove query syntax; operators such as AND become lower case."""
    words = (word.lstrip(_LEADING).rstrip(_TRAILING) for word in _SYNTAX.sub(" ", text).split())
    return " ".join(word.lower() if word in _OPERATORS else word for word in words if word)


# Otherwise a source with all items outside the dates would be read to its end.
_MOST_PAGES = 20
_EMPTY_QUESTION = Question("/")


@dataclass(frozen=True, slots=True)
class Page:
    """One page of an answer, in the source's order.

    Attributes:
        unreadable_count: rows that could not be parsed; any such row is a failure.
        gaps: (reason, detail) of parts that the source could not search.
        cursor: of the next page; empty: none.
    """

    items: tuple[KnowledgeItem, ...]
    unreadable_count: int = 0
    gaps: tuple[tuple[Reason, str], ...] = ()
    cursor: str = ""


@dataclass(slots=True)
class SearchState:
    """Items, failures and notes of a search in progress."""

    items: dict[str, KnowledgeItem] = field(default_factory=dict)
    failures: list[SourceFailure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class HttpSource(ABC):
    """A source of knowledge over HTTP; subclasses define upstream, requests and parsing."""

    name: ClassVar[str]
    kind: ClassVar[SourceKind]
    searches_text: ClassVar[bool] = True
    """Whether the source searches by `SourceQuery.text`."""
    looks_up_dois: ClassVar[bool] = False
    """Whether the source looks up `SourceQuery.dois`."""
    largest_batch: ClassVar[int] = 1
    """DOIs in one request."""
    maximum_characters: ClassVar[int] = 400
    maximum_words: ClassVar[int | None] = None
    rows_at: ClassVar[tuple[str, ...]] = ()
    """Path of the list of rows in the body."""
    required: ClassVar[tuple[str, ...]] = ()
    """Settings that the source requires."""
    advice: ClassVar[str] = ""
    """Message to the user if they are not set."""

    def __init__(self, settings: Settings, context: SourceContext) -> None:
        self.settings = settings
        self.requests = SourceRequests(
            overridden(self.upstream(settings), settings.sources), context
        )

    @classmethod
    @abstractmethod
    def upstream(cls, settings: Settings) -> Upstream:
        """Return address, rate limit and keys."""

    @classmethod
    def missing_setting(cls, settings: Settings) -> str | None:
        """Return the message about a missing setting; None if nothing is missing."""
        return None if all(getattr(settings, name) for name in cls.required) else cls.advice

    def worded(self, text: str) -> Wording:
        """Return the words to send for a text."""
        return shortened(plain_words(text), self.maximum_characters, self.maximum_words)

    @abstractmethod
    def question(self, words: str, query: SourceQuery) -> Question:
        """Return the first request of a search."""

    def look_up(self, dois: Sequence[str]) -> Question:
        """Return the request for one batch of DOIs."""
        raise AssertionError(f"{self.name} looks up no DOIs: {len(dois)} given")

    def read(self, reply: Reply) -> Page:
        """Parse an answer with status 200.

        Raises:
            UnreadableAnswer: not the documented shape. RequestRejectedError: a refusal with status
                200.
        """
        return self.page(json_of(reply.content))

    def page(self, body: Any) -> Page:
        """Build a page from parsed JSON; raises as `read`."""
        return self.page_of(rows_of(body, *self.rows_at))

    def worth_keeping(self, page: Page) -> bool:
        """Return whether to cache the page: not if it has gaps."""
        return not page.gaps and not page.unreadable_count

    @abstractmethod
    def item(self, row: Row) -> KnowledgeItem:
        """Parse one row. Raises ValueError (pydantic's included) for an invalid row."""

    async def search(self, query: SourceQuery) -> KnowledgeAnswer:
        """Return the source's items for the query, in its order of relevance.

        Never raises for a failure of the source: failures are part of the answer. Items outside the
        query's dates, or without a date, are removed and counted.
        """
        wording = self.worded(query.text) if not query.dois else Wording("")
        search_state = SearchState()
        if (refusal := self._refusal(query, wording)) is not None:
            search_state.failures.append(refusal)
        elif query.dois:
            await self._gather(self._batches(query.dois, search_state), query, search_state)
        else:
            await self._gather([self.question(wording.text, query)], query, search_state)
        admissible = _admissible(search_state, query)
        excluded_items = [item for item in search_state.items.values() if item not in admissible]
        return KnowledgeAnswer(
            admissible if query.dois else admissible[: query.limit],
            tuple(dict.fromkeys(search_state.failures)),
            len(excluded_items),
            query_sent=wording.text,
            shortening=wording.shortening,
            undated_count=sum(item.published is None for item in excluded_items),
            notes=tuple(search_state.notes),
        )

    async def ask(
        self, question: Question, query: SourceQuery, search_state: SearchState
    ) -> Page | None:
        """Fetch one page; on failure, record it and return None."""
        del query
        result = await self.requests.fetch(question, self.read, self.worth_keeping)
        if result.failure is not None:
            search_state.failures.append(result.failure)
        return result.page

    def page_of(
        self, rows: Iterable[Any], gaps: Iterable[tuple[Reason, str]] = (), cursor: str = ""
    ) -> Page:
        """Build a page of the valid rows, without public reviews of papers."""
        items: list[KnowledgeItem] = []
        unreadable_count = 0
        for row in rows:
            try:
                item = self.item(row if isinstance(row, Mapping) else {})
            except ValueError:
                unreadable_count += 1
                continue
            if not (self.kind is SourceKind.PAPERS and is_discussion(item.title, item.doi)):
                items.append(item)
        return Page(tuple(items), unreadable_count, tuple(gaps), cursor)

    async def _gather(
        self, questions: Iterable[Question], query: SourceQuery, search_state: SearchState
    ) -> None:
        queue, page_count = deque(questions), 0
        while queue:
            question = queue.popleft()
            page = await self.ask(question, query, search_state)
            if page is None:
                continue
            page_count += 1
            search_state.items.update(
                (item.url, item) for item in page.items if item.url not in search_state.items
            )
            search_state.failures.extend(
                self.requests.failure(question, reason, detail) for reason, detail in page.gaps
            )
            if page.unreadable_count:
                detail = (
                    f"{page.unreadable_count} of {page.unreadable_count + len(page.items)} rows are"
                    " not as documented"
                )
                search_state.failures.append(
                    self.requests.failure(question, Reason.MALFORMED_ANSWER, detail)
                )
            enough = not query.dois and len(_admissible(search_state, query)) >= query.limit
            next_question = (
                question.at(page.cursor) if page.items or page.unreadable_count else None
            )
            if next_question is not None and not enough:
                if page_count < _MOST_PAGES:
                    queue.append(next_question)
                else:
                    search_state.notes.append(f"stopped after {page_count} pages")

    def _refusal(self, query: SourceQuery, wording: Wording) -> SourceFailure | None:
        if (missing := self.missing_setting(self.settings)) is not None:
            return self.requests.failure(_EMPTY_QUESTION, Reason.NOT_CONFIGURED, missing)
        if query.dois and not self.looks_up_dois:
            limitation = "looks up no DOIs"
        elif not query.dois and not self.searches_text:
            limitation = "looks up DOIs only"
        elif not query.dois and not wording.text:
            limitation = f"has no words to search for in {query.text[:80]!r}"
        else:
            return None
        return self.requests.failure(
            _EMPTY_QUESTION, Reason.BAD_REQUEST, f"{self.name} {limitation}"
        )

    def _batches(self, dois: Sequence[str], search_state: SearchState) -> list[Question]:
        unique: dict[str, None] = {}
        for text in dois:
            doi = clean_doi(text)
            if doi is None:
                detail = f"{text[:100]!r} is no DOI that can be asked for"
                search_state.failures.append(
                    self.requests.failure(_EMPTY_QUESTION, Reason.BAD_REQUEST, detail)
                )
            else:
                unique[doi] = None
        return [self.look_up(batch) for batch in batches(list(unique), self.largest_batch)]


def overridden(upstream: Upstream, settings: SourceSettings) -> Upstream:
    """Apply the settings' address and rate limit to an upstream."""
    return replace(
        upstream,
        per_minute=settings.requests_per_minute.get(upstream.source, upstream.per_minute),
        base_url=settings.base_urls.get(upstream.source, upstream.base_url),
    )


def _admissible(search_state: SearchState, query: SourceQuery) -> tuple[KnowledgeItem, ...]:
    return tuple(
        item
        for item in search_state.items.values()
        if item.admissible(query.published_after, query.published_before)
    )
