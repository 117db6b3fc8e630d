"""Language of a text. Searches and the bundled embedding model know English only."""

from functools import lru_cache

from schemas.text.patterns import bounded
from tasks.text.vocabulary import STOP_WORDS
from tasks.text.words import words

_READ_CHARACTERS = 20_000
_ENGLISH_STOP_WORDS = 0.3
"""Share of stop words above which a text is English without a model.

English prose has more; titles, formulas and questions may have fewer, and the model decides.
"""
# Measured on the English texts of ../shared/data: of 2,700 ideas, questions and survey items none
# reaches both, of 35,000 titles one of three names does (`Banach Wasserstein GAN`).
_LEAST_NATS = 24.0
_LEAST_NATS_PER_BYTE = 0.27
_NOT_WRITTEN = "la"
"""Latin, which names of species resemble."""
_CODE_OR_FORMULA = bounded(r"```[^`]{0,20000}```|`[^`\n]{1,500}`|\$[^$\n]{1,500}\$")


@lru_cache(maxsize=1024)
def language_of(text: str) -> str | None:
    """Return the English name of the language of `text`, such as `German`; None for English.

    None, too, for texts that are too short to tell. Code and formulas do not count.
    """
    plain_text = _CODE_OR_FORMULA.sub(" ", text[:_READ_CHARACTERS])
    tokens = [word for word in words(plain_text) if any(map(str.isalpha, word))]
    if sum(word in STOP_WORDS for word in tokens) >= _ENGLISH_STOP_WORDS * len(tokens):
        return None
    # Late: the model takes two seconds and 120 MB, and few texts are doubtful.
    import py3langid
    from babel import Locale

    joined_text = " ".join(tokens)
    nats = dict(py3langid.rank(joined_text))
    code = max(nats.keys() - {_NOT_WRITTEN}, key=lambda each: nats[each])
    if nats[code] - nats["en"] < max(_LEAST_NATS, _LEAST_NATS_PER_BYTE * len(joined_text.encode())):
        return None
    return Locale("en").languages.get(code) or f"language {code}"
