"""The baselines of a comparison see what the modules may see, and nothing more."""

from typing import Any

from flows.benchmarks.reviewing import _prompted_with_search
from schemas.base import replace
from schemas.idea import Idea
from schemas.identifiers import IdeaId
from schemas.reasons import Reason
from tasks.accounting.ledger import Ledger
from tasks.benchmarks.items import ItemContext
from tests.support.contribution_fakes import FakeEngine, FakeLiterature, WordEmbedder, paper

IDEA = Idea(
    idea_id=IdeaId("bats"),
    title="Listening to bats at night",
    text="We will build a recorder for the echo calls of bats that share a cave in winter.",
)

SAID = "A recorder for the echo calls of bats in a cave."


async def test_the_ideas_own_paper_is_not_shown_to_the_baseline_that_searches() -> None:
    own = replace(paper("own", SAID), title="Listening to Bats at Night")
    literature: Any = FakeLiterature((own, paper("other", SAID)))
    embedder = WordEmbedder()
    engine = FakeEngine(embedder, {"prompt_with_search": lambda _: Reason.REFUSED})
    context = ItemContext(engine, embedder, Ledger(IDEA.idea_id), literature)
    await _prompted_with_search(IDEA, context)
    ((_, question),) = engine.asked
    assert [shown.title for shown in question.papers] == ["On other"]
