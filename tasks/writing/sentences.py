"""What an engine wrote of a section, sentence by sentence: keys in braces become claims; what says
in other words what works say is held against their stored passages by the engine, then kept as a
claim of its own, corrected once, or taken out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from schemas.literature.naming import claim_span, one_space
from schemas.outcome import Unscored
from schemas.text.patterns import MULTILINE, Match, bounded, linear
from schemas.works.draft import ClaimKind, DraftClaim, DraftWork
from tasks.citations.sentences import sentences
from tasks.judging.packing import even_batches
from tasks.judging.step import Engine
from tasks.judging.steps import (
    VERIFY_CITATIONS,
    ClaimShown,
    ClaimVerdict,
    SourceShown,
    Verdict,
    VerifyInput,
)
from tasks.judging.verifying import CLAIMS_PER_CALL, WORDS_PER_SOURCE
from tasks.text.words import nearest_sentences
from tasks.writing.checking import numbers_in

_KEY = bounded(r"\{\{\s{0,9}([A-Za-z0-9][A-Za-z0-9._-]{0,119})\s{0,9}\}\}")
_SPAN = linear(r"\[(?:[^\[\]\\]|\\.)*\]\{\.claim key=\"([a-z0-9][a-z0-9._-]*)\"\}")
_CITATION = bounded(r"\[@[^\[\]]{1,300}\]")
_CITED = bounded(r"@([A-Za-z0-9][A-Za-z0-9_:.-]{0,119})")
_BEHIND_STOP = bounded(r"([.!?])[ \t]{1,9}((?:\[@[^\[\]]{1,300}\][ \t]{0,9}){1,9})(?=\s|$)")
_LIST_MARK = bounded(r"^[ \t]{0,9}(?:[-*+]|\(?\d{1,3}[.)])[ \t]{1,9}", MULTILINE)
_HEADING = bounded(r"^#{1,6}[ \t]{1,9}", MULTILINE)
_EMPHASIS = bounded(r"[*_`]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A paragraph or an entry of a list."""

    mark: str
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        return f"{self.mark}{' '.join(self.sentences)}"


def pieces_of(text: str) -> list[Piece]:
    """The paragraphs of what was written; headings become paragraphs, numbered lists plain ones."""
    found: list[Piece] = []
    for paragraph in _HEADING.sub("", text).split("\n\n"):
        lines: list[str] = []
        for line in paragraph.splitlines():
            if lines and not _LIST_MARK.match(line):
                lines[-1] += f" {line.strip()}"
            elif line.strip():
                lines.append(line.strip())
        for line in lines:
            listed = _LIST_MARK.match(line)
            body = line[listed.end() :] if listed else line
            parts = tuple(each.strip() for each in sentences(_before_stop(body)) if each.strip())
            if parts:
                found.append(Piece("- " if listed else "", parts))
    return found


def joined(pieces: Iterable[Piece]) -> str:
    return "\n\n".join(piece.text for piece in pieces if piece.sentences)


def _before_stop(text: str) -> str:
    """Citations stand before the full stop of their sentence."""
    return _BEHIND_STOP.sub(lambda match: f" {match[2].strip()}{match[1]}", text)


def filled(text: str, claims: Mapping[str, DraftClaim]) -> str:
    """The text with its keys as claims; a key that is none stands as such, and is refused."""

    def one(match: Match[str]) -> str:
        key = match[1]
        return claim_span(key, claims[key].shown if key in claims else key)

    return _KEY.sub(one, text)


def unfilled(text: str, claims: Mapping[str, DraftClaim]) -> str:
    """The text of a section as its author may go on with it: claims by their keys in braces, what
    was held against passages in its own words, tables apart, which are put in anew.
    """

    def one(match: Match[str]) -> str:
        claim = claims.get(match[1])
        said = claim is not None and claim.kind is ClaimKind.STATEMENT
        return claim.shown if claim is not None and said else f"{{{{{match[1]}}}}}"

    parts = (each for each in text.split("\n\n") if not each.startswith(("|", ": ")))
    return _SPAN.sub(one, "\n\n".join(parts))


def cited_in(sentence: str) -> tuple[str, ...]:
    found = (key for match in _CITATION.finditer(sentence) for key in _CITED.findall(match[0]))
    return tuple(dict.fromkeys(key.rstrip(".:") for key in found))


def without_citations(sentence: str) -> str:
    """The words of a sentence, without citations, emphasis and its full stop."""
    words = " ".join(_EMPHASIS.sub("", _CITATION.sub(" ", sentence)).split()).rstrip(" .")
    return words.replace(" ,", ",").replace(" ;", ";")


def keys_in(sentence: str) -> tuple[str, ...]:
    return tuple(match[1] for match in _KEY.finditer(sentence))


def citing(shown: str, key: str, cited: Sequence[str]) -> str:
    return f"{claim_span(key, shown)} [{'; '.join(f'@{each}' for each in cited)}]."


_KEYS = bounded(r"\s{0,3}[\[(]P\d[^\[\]()]{0,80}[\])]")
MEANS = "what works say, in other words, held against their stored passages"


@dataclass(frozen=True, slots=True)
class Statements:
    """Results of checking sentences that cite, by sentence.

    Attributes:
        claims: of those that stand, as the passages carry them.
        refused: why the others do not.
    """

    claims: Mapping[str, DraftClaim]
    refused: Mapping[str, str]


async def hold(
    sentences: Sequence[str],
    works: Mapping[str, DraftWork],
    passages: Mapping[str, str],
    engine: Engine,
) -> Statements:
    """Hold every one of `sentences`, which cite works of the draft, against what is stored of them.

    Without a verdict a sentence does not stand: nothing says that it is carried.
    """
    claims: dict[str, DraftClaim] = {}
    refused: dict[str, str] = {}
    for batch in even_batches(list(dict.fromkeys(sentences)), CLAIMS_PER_CALL):
        verdicts = await _verdicts(batch, works, passages, engine)
        for sentence in batch:
            stored = "\n\n".join(passages.get(key, "") for key in cited_in(sentence))
            shown = _as_carried(sentence, verdicts.get(sentence))
            more = sorted({*numbers_in(shown)} - {*numbers_in(stored)}) if shown else []
            if not shown or not stored.strip():
                refused[sentence] = "no stored passage carries it"
            elif more:
                refused[sentence] = f"its passages hold no {', '.join(more)}"
            else:
                claims[sentence] = DraftClaim(
                    claim_key=f"said.{len(claims) + 1}",
                    kind=ClaimKind.STATEMENT,
                    means=MEANS,
                    shown=shown,
                    cited_keys=cited_in(sentence),
                    passage=stored,
                )
    return Statements(claims, refused)


def _as_carried(sentence: str, verdict: ClaimVerdict | None) -> str:
    """The sentence, or its correction; empty: nothing carries it."""
    if verdict is None or verdict.verdict is None or verdict.verdict is Verdict.NOT:
        return ""
    if verdict.verdict is Verdict.SUPPORTED:
        return one_space(without_citations(sentence))
    return one_space(without_citations(_KEYS.sub("", verdict.correction)))


async def _verdicts(
    sentences: Sequence[str],
    works: Mapping[str, DraftWork],
    passages: Mapping[str, str],
    engine: Engine,
) -> dict[str, ClaimVerdict]:
    keys = dict.fromkeys(key for sentence in sentences for key in cited_in(sentence))
    short = {key: f"P{number}" for number, key in enumerate(keys, start=1)}
    asked = tuple(
        ClaimShown(
            number=number,
            sentence=f"{without_citations(sentence)}"
            f" {' '.join(f'[{short[key]}]' for key in cited_in(sentence))}.",
        )
        for number, sentence in enumerate(sentences, start=1)
    )
    sources = []
    for key in keys:
        about = " ".join(each for each in sentences if key in cited_in(each))
        told, left = nearest_sentences(about, passages.get(key, ""), WORDS_PER_SOURCE)
        title = works[key].title
        sources.append(SourceShown(key=short[key], title=title, text=told, words_left_out=left))
    outcome = await engine.run(VERIFY_CITATIONS, VerifyInput(claims=asked, sources=tuple(sources)))
    if isinstance(outcome, Unscored):
        return {}
    given: dict[str, ClaimVerdict] = {}
    for verdict in outcome.value.claims:
        if 1 <= verdict.claim <= len(sentences):
            given.setdefault(sentences[verdict.claim - 1], verdict)
    return given
