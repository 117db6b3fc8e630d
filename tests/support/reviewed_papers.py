"""Papers with their reviews, as folders hold them and as OpenReview serves them."""

import json
import textwrap
from pathlib import Path
from typing import Any

from tests.support.small_pdf import Text, pdf_of

TITLE = "Sparse routing of tokens by their difficulty"
INTRODUCTION = (
    "Large models spend the same computation on every token. However, many tokens are easy, and"
    " existing methods fail to spend less on them. We propose to route each token by its"
    " difficulty."
)
METHOD = (
    "We train a small router beside the model, which predicts the difficulty of each token from"
    " its embedding. We use a threshold of the predicted difficulty to skip layers for easy"
    " tokens. The router is trained jointly with the model by a loss on the number of layers. We"
    " design the loss so that hard tokens keep all layers, and we apply a penalty of 0.25 to each"
    " layer that is used."
)
SETUP = (
    "We compare the routed model with the full model on two datasets of translation. Each"
    " condition is repeated under five seeds. We will measure quality and the number of layers."
)
RESULTS = (
    "The routed model achieves an accuracy of 87.31 on translation. Our results show that routing"
    " outperforms the full model by 4.72 points."
)
SECTIONS = (
    ("1 Introduction", INTRODUCTION),
    ("2 Routing by difficulty", METHOD),
    ("3 Experiments", RESULTS),
    ("3.1 Experimental setup", SETUP),
    ("4 Conclusion", "We showed that routing saves computation."),
)
FIRST_REVIEW = (
    "- Strengths:\nThe idea of routing tokens by difficulty is novel and well motivated.\n\n"
    "- Weaknesses:\nThe threshold of difficulty is not justified, and it is unclear\nwhy one"
    " threshold should fit all layers. The paper has many typos and the figures are hard to read."
    " Table 2 reports gains on one dataset only.\n"
)
SECOND_REVIEW = (
    "- Strengths:\nSkipping layers for easy tokens is simple and could be useful to many.\n\n"
    "- Weaknesses:\nA major concern is that the router sees the embedding alone, so it cannot know"
    " the context of a token. The comparison lacks a baseline that skips layers at random.\n"
)


def parsed_pdf(name: str, sections: Any = SECTIONS) -> str:
    """As `parsed_pdfs` of PeerRead have it."""
    listed = [{"heading": heading, "text": text} for heading, text in sections]
    told = {"source": "CRF", "title": TITLE, "sections": listed, "abstractText": RESULTS}
    return json.dumps({"name": f"{name}.pdf", "metadata": told})


def review_file(*texts: str, **more: Any) -> str:
    """As `reviews` of PeerRead have it."""
    reviews = [
        {"comments": text, "RECOMMENDATION": "4", "REVIEWER_CONFIDENCE": "3"} for text in texts
    ]
    return json.dumps({"reviews": reviews, "title": TITLE, "abstract": RESULTS, **more})


def peerread_folder(folder: Path, **reviews: tuple[str, ...]) -> Path:
    """A folder with a paper for each name and its reviews."""
    (folder / "parsed_pdfs").mkdir(parents=True)
    (folder / "reviews").mkdir()
    for name, texts in reviews.items():
        (folder / "parsed_pdfs" / f"{name}.pdf.json").write_text(parsed_pdf(name))
        (folder / "reviews" / f"{name}.json").write_text(review_file(*texts))
    return folder


def paper_text(sections: Any = SECTIONS) -> str:
    """The paper as Markdown."""
    told = "\n\n".join(f"## {heading}\n\n{text}" for heading, text in sections)
    return f"# {TITLE}\n\n{told}\n"


def paper_pdf() -> bytes:
    """The paper as a PDF of one page."""
    lines: list[Text] = [(TITLE, 18.0, True)]
    for heading, text in SECTIONS:
        lines.append((heading, 13.0, True))
        lines += [(line, 10.0, False) for line in textwrap.wrap(text, 80)]
    return pdf_of([lines])
