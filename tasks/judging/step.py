"""Step: one judgement asked of an engine. Engine: what answers it."""

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
    """Fence untrusted `text` as data: `<name>…</name>`, with that tag and the `reserved` ones
    inside it made harmless.
    """
    harmless = _opening_of(frozenset((name, *reserved))).sub("&lt;", text)
    return f"<{name}>\n{harmless.strip()}\n</{name}>"


def end_of_first_block(content: str) -> int:
    """Return where the first block of a rendered prompt ends, as a rule that of the idea; 0: there
    is none.
    """
    opening = _OPENING_TAG.search(content)
    if opening is None:
        return 0
    closing = f"\n</{opening[1]}>"
    place = content.find(closing, opening.end())
    return place + len(closing) if place >= 0 else 0


@lru_cache(maxsize=128)
def _opening_of(names: frozenset[str]) -> Pattern:
    """The `<` of a tag with one of `names`; they come from the prompts."""
    any_name = "|".join(sorted(escape(name) for name in names))
    return bounded(
        rf"<(?=\s*+/?\s*+(?:{any_name})\b)",
        IGNORECASE,
        because="each run of spaces follows one `<`",
    )


@jinja2.pass_context
def _block_of_prompt(context: jinja2.runtime.Context, text: str, name: str) -> str:
    """`block`, with every tag of the prompt reserved: a paper cannot open or close the block of the
    idea.
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
    """The system and the user part. Compiling takes a millisecond, rendering a tenth of it."""
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
    """Tools of a baseline besides its input."""

    embedder: Embedder


def no_baseline(detail: str) -> Callable[[Noun, BaselineTools], Awaitable[NoAnswer]]:
    """The baseline of a step that only a model can answer: NoAnswer(offline_engine), whatever the
    input; `detail` says how to have an answer.
    """

    async def none(_inputs: Noun, _tools: BaselineTools) -> NoAnswer:
        return NoAnswer(Reason.OFFLINE_ENGINE, detail)

    return none


@dataclass(frozen=True)
class Step(Generic[InputT, OutputT]):
    """One judgement: what goes in, what is asked, what must come back.

    Attributes:
        name: unique, `snake_case`; the prompt is `prompts/<name>.md` in `package`, in whose `steps`
            the step stands.
        version: raised whenever the prompt, the input or the meaning of the output changes.
        package: the topic package that holds the prompt, such as `tasks.soundness`.
        shares_prefix: several calls about an idea begin alike, the first of them alone: worth
            telling a provider that caches on demand.
        kind: whether it reads, judges or draws; profiles assign models and effort by it.
        answer_tokens: most tokens of an answer, thinking apart, unless the profile says otherwise.
        baseline: the extractive engine's answer: classic text processing over the same input,
            deterministic.
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

        A line `---` divides what is the same for every call (the system message) from the rest.
        """
        return (resources.files(self.package) / "prompts" / f"{self.name}.md").read_text("utf-8")

    @property
    def draws(self) -> bool:
        """Return whether a picture is asked for: by an image model, which is to be assigned to it."""
        return self.kind is StepKind.DRAWING

    @property
    def instructions(self) -> str:
        """The template's part that is the same for every call."""
        return self.template.partition("\n---\n")[0]

    @cached_property
    def prompt_sha256(self) -> str:
        return hashlib.sha256(self.template.encode()).hexdigest()

    def check(self) -> None:
        """Hold the template's placeholders against the input model's fields.

        Raises:
            PromptError: the template uses a name the input lacks, or never shows a field of the
                input.
        """
        placeholders = meta.find_undeclared_variables(_ENVIRONMENT.parse(self.template))
        fields = set(self.input_model.model_fields)
        if placeholders != fields:
            raise PromptError(
                f"prompt of step {self.name}: unknown placeholders {sorted(placeholders - fields)}, unused"
                f" fields {sorted(fields - placeholders)}"
            )

    def messages(self, inputs: InputT) -> list[dict[str, str]]:
        """The chat messages for `inputs`: system (instructions, stable) and user (data)."""
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
        """Return what the messages for `inputs` begin with, up to the end of the first block."""
        system, user = self.messages(inputs)
        return system["content"] + user["content"][: end_of_first_block(user["content"])]


def steps_in(name: str) -> tuple[Step[Any, Any], ...]:
    """The steps of a topic that the module `name`, or a module of that package, defines, by name.

    A step is there once its module is: no list has to name it.
    """
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
    """Runs steps for one idea. Every call it makes goes into that idea's ledger."""

    @property
    def name(self) -> str:
        """`extractive` or `litellm:<model>`."""
        ...

    async def run(self, step: "Step[Any, OutputT]", inputs: Noun) -> Outcome[OutputT]:
        """Answer `step` about `inputs`.

        Never raises for what the other side does: an answer that could not be had is `Unscored`
        with a reason.
        """
        ...


def reads_offline(engine: Engine) -> bool:
    """Tell whether the engine pays for no word that it is shown."""
    return engine.name == EXTRACTIVE.text


def excerpt(query: str, text: str, word_limit: int | None, engine: Engine) -> Excerpt:
    """Return what a prompt shows of `text`; the offline engine sees all of it."""
    return nearest_sentences(query, text, None if reads_offline(engine) else word_limit)


def program_provenance(step: Step[Any, Any], name: str, seed: int) -> Provenance:
    """Provenance of an answer that an engine of this name worked out without a model."""
    return Provenance(
        step=step.name,
        step_version=step.version,
        prompt_sha256=step.prompt_sha256,
        engine=name,
        model_requested=name,
        model_answered=name,
        seed=seed,
        created_at=datetime.now(UTC),
    )


def unasked_provenance(step: Step[Any, Any], engine: Engine) -> Provenance:
    """Provenance of a judgement that was due but could not be asked for."""
    return Provenance(
        step=step.name,
        step_version=step.version,
        prompt_sha256=step.prompt_sha256,
        engine=engine.name,
        model_requested=EngineChoice.named(engine.name).model or engine.name,
        model_answered=None,
        seed=None,
        created_at=datetime.now(UTC),
    )


def with_shortening(provenance: Provenance, note: str | None) -> Provenance:
    """`provenance` with one more thing that was left out."""
    if note is None:
        return provenance
    return replace(
        provenance,
        shortening=note if provenance.shortening is None else f"{provenance.shortening}; {note}",
    )
