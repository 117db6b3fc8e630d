"""Languages: recognized where search and embedding do not know them, and no alarm on English."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.outcome import Scored, Unscored
from schemas.reasons import Reason
from tasks.languages.language import language_of
from tasks.languages.translate import TRANSLATE, TranslateReply, translate

SHARED = Path(__file__).parents[4] / "shared" / "data"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Wir vergleichen ein kleines Sprachmodell mit einem großen.", "German"),
        ("Nous entraînons un petit modèle sur des données choisies.", "French"),
        ("¿Cómo encuentran los murciélagos a las polillas?", "Spanish"),
        ("Как летучие мыши находят мотыльков?", "Russian"),
        ("コウモリはどうやって蛾を見つけるのか", "Japanese"),
        ("蝙蝠如何找到飞蛾？", "Chinese"),
        ("박쥐는 어떻게 나방을 찾는가?", "Korean"),
        ("كيف تجد الخفافيش العث؟", "Arabic"),
    ],
)
def test_other_languages_are_named(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "",
        "42",
        "BERT",
        "graph drawing",
        "KAN: Kolmogorov–Arnold Networks",
        "Momentum Schrödinger Bridge Matching for Drosophila melanogaster connectomes",
        "Prove $\\sum_{n=1}^{\\infty} n^{-2} = \\pi^2/6$ with Dirichlet kernels $D_n(x)$",
        "We run `für jede = lambda größe: größe ** 2` on CUDA kernels",
    ],
)
def test_formulas_names_code_and_short_texts_are_no_alarm(text: str) -> None:
    assert language_of(text) is None


def _english() -> Iterator[str]:
    for name, field in (("scholarideas", "text"), ("innoeval_points", "abstract")):
        for line in (SHARED / f"{name}.jsonl").read_text("utf-8").strip().split("\n"):
            yield json.loads(line)[field]
    for line in (SHARED / "novelty_checker.jsonl").read_text("utf-8").strip().split("\n"):
        yield str(json.loads(line)["idea"])
    for line in (
        (SHARED / "wiki_survey_votes" / "items.jsonl").read_text("utf-8").strip().split("\n")
    ):
        yield json.loads(line)["text"]
    for line in (
        (SHARED / "paper_search_queries" / "queries.jsonl").read_text("utf-8").strip().split("\n")
    ):
        yield json.loads(line)["query"]
    with gzip.open(SHARED / "scholarqa_expert_answers" / "answers.jsonl.gz", "rt") as lines:
        yield from (json.loads(line)["question"] for line in lines)


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data is not here")
def test_no_idea_and_no_question_of_the_shared_data_is_an_alarm() -> None:
    assert [text for text in _english() if language_of(text) is not None] == []


async def test_a_reply_that_is_not_english_is_no_translation() -> None:
    text = "Wie finden Fledermäuse in der Nacht die Motten?"

    class Echo:
        """A model that returns what it was given."""

        name = "echo"

        async def run(self, *_: object) -> Scored[TranslateReply]:
            asked = TRANSLATE.provenance(engine=self.name, model_requested="echo")
            return Scored(TranslateReply(text=text), asked)

    outcome = await translate(text, "German", Echo())  # type: ignore[arg-type]
    assert isinstance(outcome, Unscored)
    assert outcome.reason is Reason.OTHER_LANGUAGE
