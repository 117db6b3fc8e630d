"""Reply texts for use outside their prompt: without keys and invented references."""

from collections.abc import Callable

from schemas.identifiers import PaperId
from schemas.text.patterns import Match, bounded
from tasks.citations.keys import BARE_REPORTING, KEY, LOWER_CASE_KEY, ONLY_KEYS, Shown
from tasks.citations.quoted import plain, shielded
from tasks.citations.settle import without_made_up

_BRACKET = bounded(r"[\[(【\])】]")
_LONGEST_INSIDE = 200
_NO_BRACKETS = str.maketrans(dict.fromkeys("[]()【】", " "))
_REPORTING = bounded(rf"(?:'s)?\s{{1,9}}{BARE_REPORTING}")
_IN_PROSE = bounded(
    rf"\b(?:[Pp]aper\s{{1,9}})?(?P<key>P\d{{1,6}})(?=(?:'s)?\s{{1,9}}{BARE_REPORTING})"
    rf"|\b[Pp]aper\s{{1,9}}(?P<named>P\d{{1,6}})\b"
)


def spelled_out(text: str, prompt_papers: Shown, subject: PaperId) -> tuple[str, int]:
    """Return a reply about `subject` without keys, and the number of invented references.

    A key means nothing, or another paper, in the next prompt and in a report. Links, addresses,
    DOIs, arXiv numbers and `(Author, year)` references are removed, and counted together with
    bracketed keys that are not in `shown`, the papers of the prompt. In brackets, the key of
    `subject` and keys that were not shown are removed; the key of another paper becomes its title.
    In a sentence (`P3 shows`) `subject` becomes `the paper`. Anything else that looks like a key
    (the P3 wave, the P53 gene) stays, and so do the words of quotations (`quoted.shielded`).
    """
    cleaned_text, removed_count = without_made_up(text)
    cleaned_text = shielded(cleaned_text)

    def bracket(space: str, opening: str, inside: str, end: int) -> str | None:
        nonlocal removed_count
        if not ONLY_KEYS.fullmatch(inside) or (opening == "(" and LOWER_CASE_KEY.search(inside)):
            return None
        removed_count += sum(
            prompt_papers.paper_at(int(key["first"])) is None for key in KEY.finditer(inside)
        )
        if _REPORTING.match(cleaned_text, end):
            return f"{space}{_sentence_subject(inside, prompt_papers, subject)}"
        titles = [
            title
            for key in KEY.finditer(inside)
            if (title := _title(int(key["first"]), prompt_papers, subject))
        ]
        return f" ({'; '.join(dict.fromkeys(titles))})" if titles else ""

    def prose(match: Match[str]) -> str:
        number = int((match["key"] or match["named"])[1:])
        if prompt_papers.paper_at(number) is None:
            return match.group()
        return _title(number, prompt_papers, subject) or "the paper"

    text_without_keys = _IN_PROSE.sub(prose, _with_brackets(cleaned_text, bracket))
    return plain(text_without_keys).strip(), removed_count


def _with_brackets(text: str, write: Callable[[str, str, str, int], str | None]) -> str:
    """Rewrite the brackets of `text` from the inside out.

    Removed text may have been nested.

    Args:
        write: gets the space before if there is one, the opening sign, what is inside, and the
            place behind; returns what takes the place of space and bracket, or None to keep both.
    """
    pieces: list[str] = []
    place = 0
    open_pieces: list[int] = []
    innermost = False
    for match in _BRACKET.finditer(text):
        pieces.append(text[place : match.start()])
        place = match.end()
        if match.group() in "[(【":
            open_pieces.append(len(pieces))
            innermost = True
        elif open_pieces:
            start = open_pieces.pop()
            content = "".join(pieces[start + 1 :]) if innermost else ""
            space = pieces[start - 1][-1:] if pieces[start - 1][-1:].isspace() else ""
            has_valid_length = 1 <= len(content) <= _LONGEST_INSIDE
            replacement = write(space, pieces[start], content, place) if has_valid_length else None
            if replacement is not None:
                del pieces[start:]
                pieces[-1] = pieces[-1].removesuffix(space)
                pieces.append(replacement)
                innermost = not _BRACKET.search(replacement)
                continue
            innermost = False
        pieces.append(match.group())
    return "".join([*pieces, text[place:]])


def _sentence_subject(keys_text: str, prompt_papers: Shown, subject: PaperId) -> str:
    names = [
        _title(int(key["first"]), prompt_papers, subject) or "the paper"
        for key in KEY.finditer(keys_text)
    ]
    return " and ".join(dict.fromkeys(names))


def _title(number: int, prompt_papers: Shown, subject: PaperId) -> str:
    """Return another paper's quoted title, empty for `subject` and unknown keys.

    Brackets in the title are removed.
    """
    paper = prompt_papers.paper_at(number)
    return (
        shielded(f"“{' '.join(paper.title.translate(_NO_BRACKETS).split())}”")
        if paper is not None and paper.paper_id != subject
        else ""
    )
