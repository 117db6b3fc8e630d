"""Texts of sources are plain text, and an abstract that says nothing is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.literature.source_text import plain_abstract, plain_text

MATH = '<mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML"><mml:mi>N</mml:mi></mml:math>'


@pytest.mark.parametrize(
    ("given_text", "plain"),
    [
        ("Role of <i>Drosophila</i> p53 &amp; friends", "Role of Drosophila p53 & friends"),
        (f"Optical solitons in{MATH}-coupled equations", "Optical solitons in N-coupled equations"),
        ("the<i>Drosophila</i>genome and the <i>k</i>th root", "the Drosophila genome and the kth root"),
        ("CO<sub>2</sub> &amp;amp; H<SUB>2</SUB>O", "CO2 & H2O"),
        ("&lt;i&gt;in vivo&lt;/i&gt; growth", "in vivo growth"),
        ('<math alttext="$x$"><mfrac><mi>y</mi></mfrac></math> grows', "x grows"),
        ("<math><semantics><mi>x</mi><annotation>x</annotation></semantics></math>", "x"),
        ("p < 0.05 and x > 3", "p < 0.05 and x > 3"),
        ("p &lt; 0.05 and x &gt; 3", "p < 0.05 and x > 3"),
        ("a<b and c>d", "a<b and c>d"),
        ("Q&A with AT&T; a <tag> of nobody", "Q&A with AT&T; a <tag> of nobody"),
        ("Schr{\\\"o}dinger, M\\\"uller, Erd\\H{o}s, {\\O}rsted", "Schrödinger, Müller, Erdős, Ørsted"),
        ("{BERT}: \\emph{deep} models \\& 5\\%", "BERT: deep models & 5%"),
        ("<a> tag in HTML; the <table> element",) * 2,
        ("the </div> of “<b>” and (<i>)",) * 2,
        ("<p>One <p> two <br> three <b> four</b> <a href='x'> five", "One two three four five"),
        ("<jats:sec> One, cut <i>short", "One, cut short"),
        ("sets {0,1} and $\\alpha_{i}$", "sets {0,1} and $\\alpha_{i}$"),
        ("soft\u00adhyphen zero\u200bwidth \ufeff half\ufffd\x07 \n line", "softhyphen zerowidth half line"),
        ("e\u0301tude", "étude"),
    ],
)  # fmt: skip
def test_markup_entities_and_unseen_characters_go(given_text: str, plain: str) -> None:
    assert plain_text(given_text) == plain


@given(st.text(st.sampled_from("<>/&;iptlgam\\{}\"' ©.Ab\u200b"), max_size=60))
def test_cleaning_plain_text_changes_nothing(text: str) -> None:
    plain = plain_text(text)
    assert plain_text(plain) == plain


@pytest.mark.parametrize(
    "text",
    [
        "", "n/a", "N.A.", "None", "null", "-", "…", "No abstract available", "[No abstract]",
        "Abstract not available", "This article has no abstract", "There is no abstract.",
        "<p>No abstract.</p>", "Abstract", "© 2023 Elsevier Ltd. All rights reserved.",
        "Copyright © 2001 S. Karger AG, Basel", "All rights reserved.",
        "This article is protected by copyright. All rights reserved.",
        "An abstract is not available for this content so a preview has been provided.",
        "Moths AND bats.",
    ],
)  # fmt: skip
def test_a_placeholder_is_no_abstract(text: str) -> None:
    assert plain_abstract(text, "Moths and bats") is None


@pytest.mark.parametrize(
    ("text", "abstract"),
    [
        ("<jats:title>Abstract</jats:title><jats:p>We count moths.</jats:p>", "We count moths."),
        ("Abstract Abstract: We count moths.", "We count moths."),
        ("AbstractWe count moths.", "We count moths."),
        ("Abstract interpretation of programs", "Abstract interpretation of programs"),
        ("Abstract Syntax Trees are compared", "Abstract Syntax Trees are compared"),
        ("We count moths. © 2023 Elsevier Ltd. All rights reserved.", "We count moths."),
        ("© 2019 by the authors. We count moths in the field.", "We count moths in the field."),
        ("We count moths. Published by Elsevier B.V.", "We count moths."),
        ("We ask who owns what. Copyright law protects all.",) * 2,
        (
            "We study a corpus of papers. Published by IEEE in 2019, the corpus consists of 10,000"
            " articles on licensed spectrum.",
        )
        * 2,
        ("We study maps. Copyright 2019 Elsevier was the owner, and all works are licensed.",) * 2,
        ("The maps are © 2019 Google, and we train models of the Author on them.",) * 2,
        (
            "We count moths. Published by Wiley on behalf of the Society of Bats. This is an open"
            " access article under the CC BY license (http://creativecommons.org/licenses/by/4.0/).",
            "We count moths.",
        ),
        ("We count moths © 2023 The Authors. Published by Elsevier Ltd.", "We count moths"),
        ("No abstract model of bats is known; we give one.",) * 2,
    ],
)
def test_headings_and_notices_around_an_abstract_are_cut(text: str, abstract: str) -> None:
    assert plain_abstract(text, "Moths and bats") == abstract
