"""Every module is evaluated, keyed, landed and weighed: one list, and what must agree with it."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from flows.profiles import load_profile
from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.idea import Idea
from schemas.identifiers import EvaluationKey, IdeaId, RunId
from schemas.judgement.assessment import WEIGHTED_CRITERIA
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.run_request import RunRequest
from schemas.options.values import parse_modules
from schemas.profile import Profile, ScoreWeights
from schemas.run import Module
from schemas.settings import Settings
from tasks.accounting.ledger import Ledger
from tasks.evaluation import evaluate_idea as evaluating
from tasks.evaluation.evaluate_idea import evaluate_idea, unscored_reasons
from tasks.evaluation.modules import MODULES, EvaluatingModule, IdeaTools
from tasks.evaluation.shard_job import PlannedIdea, ShardJob, conditions, evaluation_key
from tasks.steps import STEPS
from tests.support.committee_evaluations import make_full_evaluation
from tests.support.requests import run_request
from warehouse.kinds.runs.landing import RUNS

IDEA = Idea(idea_id=IdeaId("a"), title="A", text="We will do something new.")
FULL = make_full_evaluation()


def request(**changes: Any) -> RunRequest:
    fields: dict[str, Any] = {
        "ideas_path": Path("ideas.jsonl"),
        "warehouse": Path("warehouse"),
        "profile": load_profile("economy"),
        "engine": "extractive",
        "literature": "live",
        "full_text": False,
    }
    return run_request(**{**fields, **changes})


def key(
    modules: tuple[Module, ...], settings: Settings | None = None, profile: Profile | None = None
) -> EvaluationKey:
    asked = request(modules=modules, profile=profile or load_profile("economy"))
    return evaluation_key(
        IDEA, asked, "snapshot:abc", STEPS, conditions(asked, settings or Settings())
    )


def test_every_module_can_be_asked_for_has_tables_parameters_and_a_weight() -> None:
    assert set(MODULES) == set(Module)
    assert {module.value for module in Module} <= {part.path[0] for part in RUNS.parts}
    for module in Module:
        assert module.value in Profile.model_fields
        weighed = WEIGHTED_CRITERIA if module is Module.ASSESSMENT else (module,)
        assert set(map(str, weighed)) <= set(ScoreWeights.model_fields)
        assert parse_modules(module.value) == (module,)


def test_no_step_belongs_to_two_modules_and_every_module_has_steps() -> None:
    owners = [
        [
            module
            for module, evaluating_module in MODULES.items()
            if evaluating_module.holds(step.package)
        ]
        for step in STEPS
    ]
    assert all(len(found) <= 1 for found in owners)
    assert {module for found in owners for module in found} == set(MODULES)


def test_a_module_that_does_not_exist_is_refused_in_one_line() -> None:
    with pytest.raises(
        ConfigurationError, match="taste; choose from soundness, contribution, committee"
    ):
        parse_modules("soundness,taste")


def test_asking_for_the_committee_leaves_the_other_modules_keys_alone() -> None:
    without = (Module.SOUNDNESS, Module.CONTRIBUTION)
    economy = load_profile("economy")
    other = replace(economy, committee=replace(economy.committee, persona_count=4))
    assert key(without) == key(without, profile=other)
    assert key((Module.COMMITTEE,)) != key((Module.COMMITTEE,), profile=other)
    assert key(without) != key((*without, Module.COMMITTEE))


def test_a_personas_file_counts_by_its_content_and_a_source_by_being_configured(
    tmp_path: Path,
) -> None:
    economy = load_profile("economy")
    text = '[[dimension]]\nname = "ethics"\nquestion = "Is it right?"\n'
    profiles = []
    for name, content in (("a", text), ("b", text), ("c", text.replace("right", "fair"))):
        (tmp_path / name).write_text(content)
        profiles.append(
            replace(
                economy, committee=replace(economy.committee, personas_file=str(tmp_path / name))
            )
        )
    keys = [key((Module.COMMITTEE,), profile=profile) for profile in profiles]
    assert keys[0] == keys[1] != keys[2]
    asking = replace(
        economy, committee=replace(economy.committee, sources=("literature", "serper"))
    )
    configured = Settings(serper_api_key="secret")
    assert key((Module.COMMITTEE,), configured, asking) != key(
        (Module.COMMITTEE,), Settings(serper_api_key=None), asking
    )
    assert "secret" not in "".join(
        conditions(request(modules=(Module.COMMITTEE,), profile=asking), configured)
    )


@dataclass(frozen=True)
class Found:
    evaluation: Any
    papers: Any
    citations: Any
    suggestions: Any


def _module(module: Module, waits: float) -> EvaluatingModule:
    async def evaluate(idea: Idea, profile: Profile, tools: IdeaTools) -> Found:
        await asyncio.sleep(waits)
        citations = tuple(row for row in FULL.citations if row.module == module)
        suggestions = tuple(row for row in FULL.suggestions if row.module == module)
        return Found(FULL.modules[module], FULL.papers[:3], citations, suggestions)

    return EvaluatingModule(f"tasks.{module}", evaluate)


async def evaluated(
    monkeypatch: pytest.MonkeyPatch, modules: tuple[Module, ...], *, first_waits: float = 0.0
) -> IdeaEvaluation:
    fakes = {
        module: _module(module, first_waits if place == 0 else 0.0)
        for place, module in enumerate(Module)
    }
    monkeypatch.setattr(evaluating, "MODULES", fakes)
    planned = PlannedIdea(idea=IDEA, evaluation_key=EvaluationKey("0" * 32))
    job = ShardJob(
        run_id=RunId("r"),
        request=request(modules=modules),
        gateway_url="http://gone",
        literature="test",
        ideas=(planned,),
    )
    nothing = cast(Any, None)
    return await evaluate_idea(
        planned, job, IdeaTools(nothing, nothing, nothing, nothing, Ledger(IDEA.idea_id))
    )


async def test_what_modules_find_is_put_together_in_their_order_whoever_ends_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = await evaluated(monkeypatch, (Module.COMMITTEE, Module.SOUNDNESS), first_waits=0.02)
    assert list(found.modules) == ["soundness", "committee"]
    assert (found.contribution, found.novelty) == (None, None)
    assert [row.module for row in found.citations] == [
        "soundness",
        "committee",
        "committee",
        "committee",
    ]
    assert [row.subject for row in found.suggestions] == ["plan", "m1"]
    assert len({paper.paper_id for paper in found.papers}) == len(found.papers) == 3


async def test_reasons_of_every_module_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    found = await evaluated(monkeypatch, (Module.SOUNDNESS, Module.COMMITTEE))
    assert sorted(set(unscored_reasons(found))) == ["no_evidence", "refused"]


async def test_a_paper_of_which_the_source_tells_no_keywords_gets_phrases_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = await evaluated(monkeypatch, (Module.SOUNDNESS, Module.COMMITTEE))
    told = {paper.concepts is not None for paper in found.papers}
    assert told == {True, False}
    for paper in found.papers:
        assert (paper.key_phrases is None) == (paper.concepts is not None)
        for phrase in paper.key_phrases or ():
            assert phrase in f"{paper.title}. {paper.abstract or ''}".lower()


async def test_what_read_texts_name_is_a_row_of_resources(monkeypatch: pytest.MonkeyPatch) -> None:
    assert FULL.soundness is not None
    (first, *_), owner = FULL.soundness.passages, FULL.papers[0].paper_id
    told = replace(first, paper_id=owner, text="We train on the Alpine Speech corpus.")
    soundness = replace(
        FULL.soundness,
        passages=(told, *FULL.soundness.passages[1:]),
    )
    monkeypatch.setattr(f"{__name__}.FULL", replace(FULL, soundness=soundness))
    found = await evaluated(monkeypatch, (Module.SOUNDNESS,))
    (row,) = [each for each in found.resources if each.name == "Alpine Speech"]
    assert (row.paper_id, row.quote, row.section) == (owner, told.text, told.section)
    assert row.provenance is None
