"""Steps (questions to a model) and the engine protocol."""

import hashlib
import pkgutil
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from importlib import import_module, resources
from typing import Any, Generic, Protocol, TypeVar

import jinja2
from jinja2 import meta

from schemas.base import Noun, Reply, replace
from schemas.choices import EXTRACTIVE, EngineChoice
from schemas.errors import PromptError
from schemas.judging import DEFAULT_ANSWER_TOKENS, StepKind
from schemas.outcome import Outcome, Provenance
from schemas.reasons import Reason
from schemas.text.patterns import IGNORECASE, MULTILINE, Pattern, bounded, escape
from tasks.embeddings import Embedder
from tasks.text.words import Excerpt, nearest_sentences

InputT = TypeVar("InputT", bound=Noun)
OutputT = TypeVar("OutputT", bound=Reply)


_RESERVED = "reserved_tags"
_OPENING_TAG = bounded(r"^<([\w-]{1,60})>$", MULTILINE)
_TAG_OF_A_PROMPT = bounded(r"""\bblock\(\s{0,9}["']([\w-]{1,60})["']|<([a-z][\w-]{0,60})>""")


def block(text: str, name: str, reserved: Iterable[str] = ()) -> str:
    """Fence untrusted `text` as `<name>…</name>`.

    That tag and `reserved` tags are escaped in it.
    """
    escaped_text = _opening_of(frozenset((name, *reserved))).sub("&lt;", text)
    return f"<{name}>\n{escaped_text.strip()}\n</{name}>"


def end_of_first_block(content: str) -> int:
    """Return the end of a prompt's first block, 0 without blocks.

    The first block is usually the idea.
    """
    opening = _OPENING_TAG.search(content)
    if opening is None:
        return 0
    closing = f"\n</{opening[1]}>"
    place = content.find(closing, opening.end())
    return place + len(closing) if place >= 0 else 0


@lru_cache(maxsize=128)
def _opening_of(names: frozenset[str]) -> Pattern:
    """Return a pattern for the `<` of tags in `names`.

    The names come from the prompts.
    """
    any_name = "|".join(sorted(escape(name) for name in names))
    return bounded(
        rf"<(?=\s*+/?\s*+(?:{any_name})\b)",
        IGNORECASE,
        because="each run of spaces follows one `<`",
    )


@jinja2.pass_context
def _block_of_prompt(context: jinja2.runtime.Context, text: str, name: str) -> str:
    """Apply `block` with all tags of the prompt reserved.

    Data can therefore close no block.
    """
    return block(text, name, context[_RESERVED])


_ENVIRONMENT = jinja2.Environment(
    undefined=jinja2.StrictUndefined,
    autoescape=False,  # noqa: S701 -- prompts are text for a model, not HTML
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=False,
)
_ENVIRONMENT.filters["block"] = _block_of_prompt


@lru_cache(maxsize=128)
def _compile(source: str) -> tuple[jinja2.Template, jinja2.Template]:
    """Compile the system and the user part.

    The result is cached, because compiling takes ten times as long as rendering.
    """
    parts = source.partition("\n---\n")
    tags = frozenset(name for pair in _TAG_OF_A_PROMPT.findall(source) for name in pair if name)
    system, user = (
        _ENVIRONMENT.from_string(part, globals={_RESERVED: tags}) for part in (parts[0], parts[2])
    )
    return system, user


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Result of a baseline when the evidence does not allow an answer."""

    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class BaselineTools:
    """Tools of a baseline."""

    embedder: Embedder


def no_baseline(detail: str) -> Callable[[Noun, BaselineTools], Awaitable[NoAnswer]]:
    """Return the baseline of a step that only models can answer.

    Its result is NoAnswer(offline_engine).

    `detail` tells the user how to get an answer.
    """

    async def none(_inputs: Noun, _tools: BaselineTools) -> NoAnswer:
        return NoAnswer(Reason.OFFLINE_ENGINE, detail)

    return none


@dataclass(frozen=True)
class Step(Generic[InputT, OutputT]):
    """One question to a model: input, prompt, reply and baseline.

    Attributes:
        name: unique, `snake_case`; the prompt is `prompts/<name>.md` in `package`.
        version: raised whenever the prompt, the input or the meaning of the output changes.
        package: the topic package with the prompt, such as `tasks.soundness`.
        shares_prefix: several calls about an idea share a prompt prefix, which is marked for
            providers that cache marked prefixes only.
        kind: reading, judgement or drawing; profiles assign models and effort by it.
        answer_tokens: limit of an answer without thinking, unless the profile sets another.
        baseline: the extractive engine's answer, by deterministic text processing.
    """

    name: str
    version: int
    package: str
    input_model: type[InputT]
    output_model: type[OutputT]
    baseline: Callable[[InputT, BaselineTools], Awaitable[OutputT | NoAnswer]] = field(repr=False)
    shares_prefix: bool = False
    kind: StepKind = StepKind.READING
    answer_tokens: int = DEFAULT_ANSWER_TOKENS

    @cached_property
    def template(self) -> str:
        """The prompt's Jinja source.

        A line `---` separates the system message, equal for all calls, from the user message.
        """
        return (resources.files(self.package) / "prompts" / f"{self.name}.md").read_text("utf-8")

    @property
    def draws(self) -> bool:
        """True if the step needs an assigned image model."""
        return self.kind is StepKind.DRAWING

    @property
    def instructions(self) -> str:
        """The system part of the template."""
        return self.template.partition("\n---\n")[0]

    @cached_property
    def prompt_sha256(self) -> str:
        return hashlib.sha256(self.template.encode()).hexdigest()

    def provenance(
        self,
        *,
        engine: str,
        model_requested: str,
        model_answered: str | None = None,
        seed: int | None = None,
        **more: Any,
    ) -> Provenance:
        """Return the provenance of an answer that is given now."""
        return Provenance(
            step=self.name,
            step_version=self.version,
            prompt_sha256=self.prompt_sha256,
            engine=engine,
            model_requested=model_requested,
            model_answered=model_answered,
            seed=seed,
            created_at=datetime.now(UTC),
            **more,
        )

    def check(self) -> None:
        """Compare the template's placeholders with the input model's fields.

        Raises:
            PromptError: a placeholder without a field, or a field without a placeholder.
        """
        placeholders = meta.find_undeclared_variables(_ENVIRONMENT.parse(self.template))
        fields = set(self.input_model.model_fields)
        if placeholders != fields:
            raise PromptError(
                f"prompt of step {self.name}: unknown placeholders {sorted(placeholders - fields)}, unused"
                f" fields {sorted(fields - placeholders)}"
            )

    def messages(self, inputs: InputT) -> list[dict[str, str]]:
        """Render the chat messages for `inputs`: system (instructions) and user (data)."""
        if "\n---\n" not in self.template:
            raise PromptError(
                f"prompt of step {self.name} has no `---` line between instructions and data"
            )
        values = {name: getattr(inputs, name) for name in type(inputs).model_fields}
        return [
            {"role": role, "content": part.render(**values).strip()}
            for role, part in zip(("system", "user"), _compile(self.template), strict=True)
        ]

    def beginning(self, inputs: InputT) -> str:
        """Return the prompt for `inputs` up to the first block's end."""
        system, user = self.messages(inputs)
        return system["content"] + user["content"][: end_of_first_block(user["content"])]


def steps_in(name: str) -> tuple[Step[Any, Any], ...]:
    """Return the steps of module or package `name`, sorted by name."""
    module, topic = import_module(name), name.rpartition(".")[0]
    modules = [
        import_module(f"{name}.{submodule.name}")
        for submodule in pkgutil.iter_modules(getattr(module, "__path__", ()))
    ]
    steps = {
        value.name: value
        for each in (module, *modules)
        for value in vars(each).values()
        if isinstance(value, Step) and value.package == topic
    }
    return tuple(steps[each] for each in sorted(steps))


class Engine(Protocol):
    """Runs steps for one idea; records calls in its ledger."""

    @property
    def name(self) -> str:
        """`extractive` or `litellm:<model>`."""
        ...

    async def run(self, step: "Step[Any, OutputT]", inputs: Noun) -> Outcome[OutputT]:
        """Answer `step` about `inputs`.

        A failure of the provider or an unusable reply is `Unscored` with a reason, not an error.
        """
        ...


def reads_offline(engine: Engine) -> bool:
    """Return whether the engine is the extractive one.

    Prompt length costs nothing for it.
    """
    return engine.name == EXTRACTIVE.text


def excerpt(query: str, text: str, word_limit: int | None, engine: Engine) -> Excerpt:
    """Return the part of `text` nearest to `query` for a prompt.

    The offline engine gets all.
    """
    return nearest_sentences(query, text, None if reads_offline(engine) else word_limit)


def program_provenance(step: Step[Any, Any], name: str, seed: int | None) -> Provenance:
    """Return the provenance of an answer computed without a model."""
    return step.provenance(engine=name, model_requested=name, model_answered=name, seed=seed)


def unasked_provenance(step: Step[Any, Any], engine: Engine) -> Provenance:
    """Return the provenance of a judgement for which no model was asked."""
    model = EngineChoice.named(engine.name).model or engine.name
    return step.provenance(engine=engine.name, model_requested=model)


def with_shortening(provenance: Provenance, note: str | None) -> Provenance:
    """Add a note on an omission to `provenance`."""
    if note is None:
        return provenance
    return replace(
        provenance,
        shortening=note if provenance.shortening is None else f"{provenance.shortening}; {note}",
    )
