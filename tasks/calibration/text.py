"""Text model of a calibrator: ridge regression on TF-IDF terms.

Term vectors are normalized, so that the length of a text has no effect.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schemas.errors import ConfigurationError
from schemas.judgement.calibration import CalibratorTerm

if TYPE_CHECKING:  # slow import, and few commands apply a calibrator
    from sklearn.feature_extraction.text import TfidfVectorizer

WORDS = "words"
"""Name of the text score as a feature."""
FEWEST_TEXTS_WITH_A_TERM = 3
LONGEST_TERM_WORDS = 2
PENALTY = 3.0
"""Penalty on squared coefficients; less overfits hundreds of labeled texts."""


@dataclass(frozen=True, slots=True)
class TextModel:
    """Fitted terms, in alphabetical order."""

    terms: tuple[CalibratorTerm, ...]

    def scores(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return each text's predicted offset from the mean label value.

        It is 0 without known terms.
        """
        vectorizer = _vectorizer(vocabulary=[one.term for one in self.terms])
        vectorizer.idf_ = np.array([one.weight for one in self.terms])
        coefficients = np.array([one.coefficient for one in self.terms])
        return np.asarray(vectorizer.transform(texts) @ coefficients, dtype=np.float64)


def fit_text(texts: Sequence[str], values: NDArray[np.float64]) -> TextModel:
    """Fit on texts and the values of their labels.

    Raises:
        ConfigurationError: no term occurs in three of the texts.
    """
    from sklearn.linear_model import Ridge

    vectorizer = _vectorizer(min_df=FEWEST_TEXTS_WITH_A_TERM)
    try:
        shares = vectorizer.fit_transform(texts)
    except ValueError as error:
        raise ConfigurationError(
            "the texts share no words to learn from: label more ideas of one field"
        ) from error
    regression = Ridge(alpha=PENALTY).fit(shares, values)
    names = vectorizer.get_feature_names_out()
    return TextModel(
        tuple(
            CalibratorTerm(term=str(name), weight=float(weight), coefficient=float(coefficient))
            for name, weight, coefficient in zip(
                names, vectorizer.idf_, regression.coef_, strict=True
            )
        )
    )


def _vectorizer(**settings: object) -> "TfidfVectorizer":
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(
        sublinear_tf=True, ngram_range=(1, LONGEST_TERM_WORDS), stop_words="english", **settings
    )
