"""The base of all sources: from a query to questions, from pages to an admitted answer."""

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
    """The words to send. `shortening` says what was cut and by which limit; None: nothing."""

    text: str
    shortening: str | None = None


def shortened(text: str, maximum_characters: int, maximum_words: int | None = None) -> Wording:
    """`text` on one line within both limits, cut after a whole word where one fits."""
    words = one_line(text).split(" ")
    whole = " ".join(words)
    text_within = " ".join(words[:maximum_words] if maximum_words else words)
    if len(text_within) > maximum_characters:
        head = text_within[: maximum_characters + 1]
        text_within = head.rpartition(" ")[0] or text_within[:maximum_characters]
    if text_within == whole:
        return Wording(whole)
    most_words = f" and {maximum_words} words" if maximum_words else ""
    return Wording(
        text_within,
        f"query cut from {len(whole)} to {len(text_within)} characters, from {len(words)} to"
        f" {len(text_within.split())} words: the limit is {maximum_characters} characters{most_words}",
    )


def plain_words(text: str) -> str:
    """Words without query syntax; AND, OR, NOT become lower case."""
    words = (word.lstrip(_LEADING).rstrip(_TRAILING) for word in _SYNTAX.sub(" ", text).split())
    return " ".join(word.lower() if word in _OPERATORS else word for word in words if word)


# A source whose items all lie outside the dates would be read to its end.
_MOST_PAGES = 20
_NOTHING_ASKED = Question("/")


@dataclass(frozen=True, slots=True)
class Page:
    """One answer as items, in the source's order.

    Attributes:
        unreadable_count: rows that are no items; each page with some is a failure beside its items.
        gaps: (reason, detail) of what the source itself says it could not look at.
        cursor: what to ask for the next page with, where the question was asked with one.
    """

    items: tuple[KnowledgeItem, ...]
    unreadable_count: int = 0
    gaps: tuple[tuple[Reason, str], ...] = ()
    cursor: str = ""


@dataclass(slots=True)
class Gathered:
    items: dict[str, KnowledgeItem] = field(default_factory=dict)
    failures: list[SourceFailure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class HttpSource(ABC):
    """A source of knowledge over HTTP. A new one says where it is, how to ask and how to read."""

    name: ClassVar[str]
    kind: ClassVar[SourceKind]
    searches_text: ClassVar[bool] = True
    """Whether `SourceQuery.text` can be asked."""
    looks_up_dois: ClassVar[bool] = False
    """Whether `SourceQuery.dois` can be asked."""
    largest_batch: ClassVar[int] = 1
    """DOIs in one request."""
    maximum_characters: ClassVar[int] = 400
    maximum_words: ClassVar[int | None] = None
    rows_at: ClassVar[tuple[str, ...]] = ()
    """Where in the body the list of rows stands."""
    required: ClassVar[tuple[str, ...]] = ()
    """Settings without which it cannot be asked."""
    advice: ClassVar[str] = ""
    """What the user is told who has not set them."""

    def __init__(self, settings: Settings, context: SourceContext) -> None:
        self.settings = settings
        self.requests = SourceRequests(
            overridden(self.upstream(settings), settings.sources), context, settings.sources
        )

    @classmethod
    @abstractmethod
    def upstream(cls, settings: Settings) -> Upstream:
        """Address, allowance and keys."""

    @classmethod
    def missing_setting(cls, settings: Settings) -> str | None:
        """The setting without which the source cannot be asked, in words; None: nothing."""
        return None if all(getattr(settings, name) for name in cls.required) else cls.advice

    def worded(self, text: str) -> Wording:
        """The words to send for a free text."""
        return shortened(plain_words(text), self.maximum_characters, self.maximum_words)

    @abstractmethod
    def question(self, words: str, query: SourceQuery) -> Question:
        """The first request of a search."""

    def look_up(self, dois: Sequence[str]) -> Question:
        """The request for one batch of DOIs."""
        raise AssertionError(f"{self.name} looks up no DOIs: {len(dois)} given")

    def read(self, reply: Reply) -> Page:
        """A page out of an answer with status 200; of JSON, unless a source says otherwise.

        Raises:
            UnreadableAnswer: not the documented shape.
            RequestRejectedError: a refusal in the shape of an answer.
        """
        return self.page(json_of(reply.content))

    def page(self, body: Any) -> Page:
        """A page out of parsed JSON; raises as `read`."""
        return self.page_of(rows_of(body, *self.rows_at))

    def worth_keeping(self, page: Page) -> bool:
        """Return whether the same answer will do for the next who asks: not one with gaps."""
        return not page.gaps and not page.unreadable_count

    @abstractmethod
    def item(self, row: Row) -> KnowledgeItem:
        """One row; raises ValueError (pydantic's included) for a row that is no item."""

    async def search(self, query: SourceQuery) -> KnowledgeAnswer:
        """The source's items for the query, in its own order of relevance.

        Never raises for what the other side does: a look-up that was not answered is a failure in
        the answer. Items outside the query's dates are removed and counted; an undated item counts
        as outside them.
        """
        wording = self.worded(query.text) if not query.dois else Wording("")
        gathered = Gathered()
        if (refusal := self._refusal(query, wording)) is not None:
            gathered.failures.append(refusal)
        elif query.dois:
            await self._gather(self._batches(query.dois, gathered), query, gathered)
        else:
            await self._gather([self.question(wording.text, query)], query, gathered)
        admissible = _admissible(gathered, query)
        outside = [item for item in gathered.items.values() if item not in admissible]
        return KnowledgeAnswer(
            admissible if query.dois else admissible[: query.limit],
            tuple(dict.fromkeys(gathered.failures)),
            len(outside),
            query_sent=wording.text,
            shortening=wording.shortening,
            undated_count=sum(item.published is None for item in outside),
            notes=tuple(gathered.notes),
        )

    async def ask(self, question: Question, query: SourceQuery, gathered: Gathered) -> Page | None:
        """One page, or None with the failure noted."""
        del query
        result = await self.requests.fetch(question, self.read, self.worth_keeping)
        if result.failure is not None:
            gathered.failures.append(result.failure)
        return result.page

    def page_of(
        self, rows: Iterable[Any], gaps: Iterable[tuple[Reason, str]] = (), cursor: str = ""
    ) -> Page:
        """A page of the items among the rows, without public reviews of papers."""
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
        self, questions: Iterable[Question], query: SourceQuery, gathered: Gathered
    ) -> None:
        queue, page_count = deque(questions), 0
        while queue:
            question = queue.popleft()
            page = await self.ask(question, query, gathered)
            if page is None:
                continue
            page_count += 1
            gathered.items.update(
                (item.url, item) for item in page.items if item.url not in gathered.items
            )
            gathered.failures.extend(
                self.requests.failure(question, reason, detail) for reason, detail in page.gaps
            )
            if page.unreadable_count:
                detail = (
                    f"{page.unreadable_count} of {page.unreadable_count + len(page.items)} rows are"
                    " not as documented"
                )
                gathered.failures.append(
                    self.requests.failure(question, Reason.MALFORMED_ANSWER, detail)
                )
            enough = not query.dois and len(_admissible(gathered, query)) >= query.limit
            next_question = (
                question.at(page.cursor) if page.items or page.unreadable_count else None
            )
            if next_question is not None and not enough:
                if page_count < _MOST_PAGES:
                    queue.append(next_question)
                else:
                    gathered.notes.append(f"stopped after {page_count} pages")

    def _refusal(self, query: SourceQuery, wording: Wording) -> SourceFailure | None:
        if (missing := self.missing_setting(self.settings)) is not None:
            return self.requests.failure(_NOTHING_ASKED, Reason.NOT_CONFIGURED, missing)
        if query.dois and not self.looks_up_dois:
            limitation = "looks up no DOIs"
        elif not query.dois and not self.searches_text:
            limitation = "looks up DOIs only"
        elif not query.dois and not wording.text:
            limitation = f"has no words to search for in {query.text[:80]!r}"
        else:
            return None
        return self.requests.failure(
            _NOTHING_ASKED, Reason.BAD_REQUEST, f"{self.name} {limitation}"
        )

    def _batches(self, dois: Sequence[str], gathered: Gathered) -> list[Question]:
        unique: dict[str, None] = {}
        for text in dois:
            doi = clean_doi(text)
            if doi is None:
                detail = f"{text[:100]!r} is no DOI that can be asked for"
                gathered.failures.append(
                    self.requests.failure(_NOTHING_ASKED, Reason.BAD_REQUEST, detail)
                )
            else:
                unique[doi] = None
        return [self.look_up(batch) for batch in batches(list(unique), self.largest_batch)]


def overridden(upstream: Upstream, settings: SourceSettings) -> Upstream:
    """With the address and the allowance that the settings name for it."""
    return replace(
        upstream,
        per_minute=settings.requests_per_minute.get(upstream.source, upstream.per_minute),
        base_url=settings.base_urls.get(upstream.source, upstream.base_url),
    )


def _admissible(gathered: Gathered, query: SourceQuery) -> tuple[KnowledgeItem, ...]:
    return tuple(
        item
        for item in gathered.items.values()
        if item.admissible(query.published_after, query.published_before)
    )
