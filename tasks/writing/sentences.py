"""Sentences of a section: keys in braces become claims, and statements are checked."""

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
_CITE_KEY = bounded(r"@([A-Za-z0-9][A-Za-z0-9_:.-]{0,119})")
_BEHIND_STOP = bounded(r"([.!?])[ \t]{1,9}((?:\[@[^\[\]]{1,300}\][ \t]{0,9}){1,9})(?=\s|$)")
_LIST_MARK = bounded(r"^[ \t]{0,9}(?:[-*+]|\(?\d{1,3}[.)])[ \t]{1,9}", MULTILINE)
_HEADING = bounded(r"^#{1,6}[ \t]{1,9}", MULTILINE)
_EMPHASIS = bounded(r"[*_`]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A paragraph or a list item."""

    mark: str
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        return f"{self.mark}{' '.join(self.sentences)}"


def pieces_of(text: str) -> list[Piece]:
    """Split a text into pieces; headings become paragraphs, numbered lists plain ones."""
    pieces: list[Piece] = []
    for paragraph in _HEADING.sub("", text).split("\n\n"):
        lines: list[str] = []
        for line in paragraph.splitlines():
            if lines and not _LIST_MARK.match(line):
                lines[-1] += f" {line.strip()}"
            elif line.strip():
                lines.append(line.strip())
        for line in lines:
            list_mark = _LIST_MARK.match(line)
            body = line[list_mark.end() :] if list_mark else line
            # Citations move before the full stop of their sentence.
            body = _BEHIND_STOP.sub(lambda match: f" {match[2].strip()}{match[1]}", body)
            parts = tuple(each.strip() for each in sentences(body) if each.strip())
            if parts:
                pieces.append(Piece("- " if list_mark else "", parts))
    return pieces


def join_pieces(pieces: Iterable[Piece]) -> str:
    return "\n\n".join(piece.text for piece in pieces if piece.sentences)


def fill_keys(text: str, claims: Mapping[str, DraftClaim]) -> str:
    """Replace keys by claims; an unknown key is kept, and later refused."""

    def one(match: Match[str]) -> str:
        key = match[1]
        return claim_span(key, claims[key].shown if key in claims else key)

    return _KEY.sub(one, text)


def restore_keys(text: str, claims: Mapping[str, DraftClaim]) -> str:
    """Return a section for revision: claims as keys in braces, statements as words, no tables."""

    def one(match: Match[str]) -> str:
        claim = claims.get(match[1])
        is_statement = claim is not None and claim.kind is ClaimKind.STATEMENT
        return claim.shown if claim is not None and is_statement else f"{{{{{match[1]}}}}}"

    parts = (each for each in text.split("\n\n") if not each.startswith(("|", ": ")))
    return _SPAN.sub(one, "\n\n".join(parts))


def cited_in(sentence: str) -> tuple[str, ...]:
    keys = (key for match in _CITATION.finditer(sentence) for key in _CITE_KEY.findall(match[0]))
    return tuple(dict.fromkeys(key.rstrip(".:") for key in keys))


def without_citations(sentence: str) -> str:
    """Return the words of a sentence without citations, emphasis and full stop."""
    words = " ".join(_EMPHASIS.sub("", _CITATION.sub(" ", sentence)).split()).rstrip(" .")
    return words.replace(" ,", ",").replace(" ;", ";")


def keys_in(sentence: str) -> tuple[str, ...]:
    return tuple(match[1] for match in _KEY.finditer(sentence))


def citing_sentence(text: str, key: str, cited: Sequence[str]) -> str:
    return f"{claim_span(key, text)} [{'; '.join(f'@{each}' for each in cited)}]."


_KEYS = bounded(r"\s{0,3}[\[(]P\d[^\[\]()]{0,80}[\])]")
MEANS = "what works say, in other words, held against their stored passages"


async def check_statements(
    sentences: Sequence[str],
    works: Mapping[str, DraftWork],
    passages: Mapping[str, str],
    engine: Engine,
) -> tuple[dict[str, DraftClaim], dict[str, str]]:
    """Check `sentences`, which cite works of the draft, against the stored passages.

    A statement is kept as a claim, corrected once, or refused, as it is without a verdict.

    Returns:
        Claims of supported sentences, and reasons against the others.
    """
    claims: dict[str, DraftClaim] = {}
    refusals: dict[str, str] = {}
    for batch in even_batches(list(dict.fromkeys(sentences)), CLAIMS_PER_CALL):
        verdicts = await _verdicts(batch, works, passages, engine)
        for sentence in batch:
            stored_text = "\n\n".join(passages.get(key, "") for key in cited_in(sentence))
            reply, text = verdicts.get(sentence), ""
            if reply is not None and reply.verdict is Verdict.SUPPORTED:
                text = one_space(without_citations(sentence))
            elif reply is not None and reply.verdict not in (None, Verdict.NOT):
                text = one_space(without_citations(_KEYS.sub("", reply.correction)))
            unsupported_numbers = (
                sorted({*numbers_in(text)} - {*numbers_in(stored_text)}) if text else []
            )
            if not text or not stored_text.strip():
                refusals[sentence] = "no stored passage carries it"
            elif unsupported_numbers:
                refusals[sentence] = f"its passages hold no {', '.join(unsupported_numbers)}"
            else:
                claims[sentence] = DraftClaim(
                    claim_key=f"said.{len(claims) + 1}",
                    kind=ClaimKind.STATEMENT,
                    means=MEANS,
                    shown=text,
                    cited_keys=cited_in(sentence),
                    passage=stored_text,
                )
    return claims, refusals


async def _verdicts(
    sentences: Sequence[str],
    works: Mapping[str, DraftWork],
    passages: Mapping[str, str],
    engine: Engine,
) -> dict[str, ClaimVerdict]:
    keys = dict.fromkeys(key for sentence in sentences for key in cited_in(sentence))
    short = {key: f"P{number}" for number, key in enumerate(keys, start=1)}
    claims = tuple(
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
        text, words_left_out = nearest_sentences(about, passages.get(key, ""), WORDS_PER_SOURCE)
        title = works[key].title
        sources.append(
            SourceShown(key=short[key], title=title, text=text, words_left_out=words_left_out)
        )
    outcome = await engine.run(VERIFY_CITATIONS, VerifyInput(claims=claims, sources=tuple(sources)))
    if isinstance(outcome, Unscored):
        return {}
    verdict_of: dict[str, ClaimVerdict] = {}
    for verdict in outcome.value.claims:
        if 1 <= verdict.claim <= len(sentences):
            verdict_of.setdefault(sentences[verdict.claim - 1], verdict)
    return verdict_of
