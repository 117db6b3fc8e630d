"""`make costs`: the tables of docs/guides/models.md, as `assay plan --compare` has them for the bundled
ideas.

python -m tests.model_costs     writes them anew, after LiteLLM's prices or the plan have changed
"""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from flows.profiles import shipped_profiles
from flows.run.requests import request_of
from flows.works.evaluate.prediction import ModelCost, compare_engines, parse_engines
from flows.works.evaluate.request import bundled_file
from schemas.base import replace
from schemas.choices import LiteratureChoice
from schemas.idea import Idea
from schemas.judgement.run_request import RunRequest
from schemas.judging import JudgingParameters
from schemas.options.commands import RunOptions
from schemas.settings import LanguageModelSettings, Settings
from tasks.evaluation.work import EVALUATE
from tasks.ideas.read import read_ideas

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "models.md"
BEGIN = "<!-- costs: python -m tests.model_costs writes what follows -->\n"
END = "<!-- end of costs -->\n"
MODELS = (
    "openai/gpt-5",
    "openai/gpt-5-mini",
    "openai/o3",
    "openai/o4-mini",
    "openai/gpt-4.1",
    "anthropic/claude-opus-4-7",
    "anthropic/claude-sonnet-4-5",
    "gemini/gemini-2.5-pro",
    "gemini/gemini-2.5-flash",
)
HEAD = (
    "model",
    "calls",
    "prompt tokens",
    "from cache",
    "completion tokens",
    "thinking",
    "an idea",
    "all sixteen",
)
_PROFILE = re.compile(r"^```toml\n# ([^\n]+)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def main() -> None:
    page = PAGE.read_text("utf-8")
    PAGE.write_text(with_costs(page), "utf-8")


def with_costs(page: str) -> str:
    """The page with its tables made anew."""
    return rewritten(page, BEGIN, END, costs(page))


def rewritten(page: str, begin: str, end: str, text: str) -> str:
    """The page with `text` between two lines."""
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}{text}{end}{after}"


def costs(page: str) -> str:
    """One table for each shipped profile: models alone,
    and the page's own assignments of several.
    """
    ideas = read_ideas(bundled_file("ideas.jsonl"), default_cutoff=None).ideas
    return "\n".join(_table(profile, page, ideas) for profile in shipped_profiles())


def mixed(page: str) -> Iterator[tuple[str, JudgingParameters]]:
    """Every assignment that the page shows, under the comment in its first line."""
    for name, text in _PROFILE.findall(page):
        yield (
            name,
            JudgingParameters.model_validate_json(json.dumps(tomllib.loads(text)["judging"])),
        )


def _table(profile: str, page: str, ideas: tuple[Idea, ...]) -> str:
    settings = Settings(language_model=LanguageModelSettings())
    options = RunOptions(
        profile=profile,
        engine=parse_engines(MODELS)[0],
        literature=LiteratureChoice(bundled_file("papers.jsonl")),
    )
    request = request_of(EVALUATE, (bundled_file("ideas.jsonl"),), options, settings)
    lines = {
        str(line.engine.model): line
        for line in compare_engines(parse_engines(MODELS), ideas, request, settings)
    }
    lines |= {name: _assigned(judging, ideas, request, settings) for name, judging in mixed(page)}
    rows = sorted(lines.items(), key=lambda row: row[1].cost_usd or 0.0)
    table = [HEAD, ("---", *["--:"] * (len(HEAD) - 1)), *(_row(name, line) for name, line in rows)]
    return "\n".join(
        (f"Profile `{profile}`:", "", *(f"| {' | '.join(row)} |" for row in table), "")
    )


def _assigned(
    judging: JudgingParameters, ideas: tuple[Idea, ...], request: RunRequest, settings: Settings
) -> ModelCost:
    assigned = replace(request, profile=replace(request.profile, judging=judging))
    (line,) = compare_engines([request.engine], ideas, assigned, settings)
    return line


def _row(name: str, line: ModelCost) -> tuple[str, ...]:
    counts = (
        line.model_calls,
        line.prompt_tokens,
        line.cached_tokens,
        line.completion_tokens,
        line.thinking_tokens,
    )
    return (
        name,
        *(f"{count:,}" for count in counts),
        f"${line.cost_usd_per_idea:.2f}",
        f"${line.cost_usd:.2f}",
    )


if __name__ == "__main__":
    main()
