"""Translation of ideas and questions into English, as one step."""

from collections.abc import Iterable

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import LONG_ANSWER_TOKENS
from schemas.outcome import Outcome, Scored, Unscored
from schemas.reasons import Reason
from tasks.judging.expected import CHARACTERS_PER_TOKEN, ExpectedCalls
from tasks.judging.reply_fields import Prose
from tasks.judging.step import BaselineTools, Engine, NoAnswer, Step
from tasks.languages.language import language_of


class TranslateInput(Noun):
    """Input of `translate`."""

    language: str
    text: str = Field(min_length=1)


class TranslateReply(Reply):
    """Reply to `translate`."""

    text: Prose = Field(min_length=1, description="The whole text in English.")


async def _no_translation(inputs: TranslateInput, _tools: BaselineTools) -> NoAnswer:
    return NoAnswer(
        Reason.OTHER_LANGUAGE,
        f"it seems to be in {inputs.language}, and searches know English only: name a model (--engine),"
        " which translates it, or write it in English",
    )


TRANSLATE = Step(
    name="translate",
    version=1,
    package="tasks.languages",
    input_model=TranslateInput,
    output_model=TranslateReply,
    baseline=_no_translation,
    answer_tokens=LONG_ANSWER_TOKENS,
)


async def translate(text: str, language: str, engine: Engine) -> Outcome[TranslateReply]:
    """Translate a text into English; Unscored if the reply is not English."""
    outcome = await engine.run(TRANSLATE, TranslateInput(language=language, text=text))
    if isinstance(outcome, Scored) and (other := language_of(outcome.value.text)) is not None:
        detail = f"the translation from {language} is in {other}"
        return Unscored(Reason.OTHER_LANGUAGE, detail, outcome.provenance)
    return outcome


def expected_translations(texts: Iterable[str]) -> ExpectedCalls:
    """Return the expected calls for those of `texts` that are not in English."""
    characters = [len(text) for text in texts if language_of(text) is not None]
    tokens = sum(characters) / CHARACTERS_PER_TOKEN
    return ExpectedCalls(len(characters), tokens, tokens)
