"""Every page, in a real browser, over a lake whose every free text is an attack on whoever looks at
it.
"""

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, expect

from dashboards.render.data_docs import data_docs
from dashboards.views.write_run import write_reports
from schemas.base import replace
from schemas.identifiers import IdeaId
from schemas.literature.naming import TURNING
from tests.support.assay_command import environment
from tests.support.browser import Reader, dashboard, needs_chromium, reader_of
from tests.support.evaluations import make_evaluation, make_idea, make_run
from tests.support.report_lake import HOSTILE, RUN, hostile_evaluation
from tests.support.tiers import some
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.later_validation import validate_published
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

pytestmark = [pytest.mark.end_to_end, needs_chromium, pytest.mark.timeout(900)]

BIDI = "\u202etxt.exe\u2066 \u200f\u061c\u2067"
ATTACK = (
    '"><script>window.touched=1</script><img src=x'
    ' onerror="window.touched=1"><svg/onload="window.touched=1"><b id="touched">'
    "[link](javascript:window.touched=1) ![image](https://evil.example/beacon.png)"
    " <https://evil.example> $\\href{javascript:x}{y}$ "
    f":red[colour] =HYPERLINK(1) {BIDI} https://evil.example/bare www.evil.example a@evil.example"
    f" {'W' * 600}"
)
SHOWN = """() => (document.getElementById('root') ?? document.body).textContent
    + [...document.querySelectorAll('input, textarea')].map(each => each.value).join(' ')"""


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    warehouse = Warehouse(tmp_path_factory.mktemp("hostile") / "warehouse")
    idea = replace(
        make_idea(5),
        idea_id=IdeaId("attack"),
        title=ATTACK,
        text=ATTACK,
        group=ATTACK,
        metadata={ATTACK: ATTACK},
    )
    worse = make_evaluation(5, idea=idea)
    calls = tuple(
        replace(call, model_requested=ATTACK, model_answered=ATTACK, error=ATTACK)
        for call in worse.llm_calls
    )
    for evaluation in (make_evaluation(0), hostile_evaluation(), replace(worse, llm_calls=calls)):
        land(warehouse, evaluation)
    report = publish(
        warehouse,
        RUNS,
        make_run(ideas=3, evaluated_count=3, label=ATTACK[:200], engine="litellm:" + ATTACK[:100]),
    )
    assert report.published, report.validation.broken
    return warehouse


@pytest.fixture(scope="module")
def address(warehouse: Warehouse) -> Iterator[str]:
    folder = warehouse.root.parent
    with dashboard(warehouse.root, environment(folder / "home"), folder / "log") as running:
        yield running


@pytest.fixture(scope="module")
def reader(browser: Browser, address: str) -> Iterator[Reader]:
    """One browser for every page, so that what all pages load is loaded once."""
    with reader_of(browser, address) as here:
        yield here


def see_that_nothing_was_touched(reader: Reader) -> None:
    """No script ran, no element of the text came to be, no link leads to a script; `settle` sees to
    requests and errors.
    """
    reader.settle()
    assert reader.page.evaluate("window.touched") is None
    expect(
        reader.page.locator('#touched, img[src="x"], img[src^="https:"], [href^="javascript:" i]')
    ).to_have_count(0)
    expect(reader.page.locator('[href*="evil.example"], [href^="mailto:"]')).to_have_count(0)
    shown = reader.page.evaluate(SHOWN)
    assert not set(shown) & set(TURNING), "the reading order is turned"


OPERATE = tuple(f"operate{part}" for part in ("", "/cost", "/sources", "/quality", "/sql"))
EVERY_PAGE = ("", "ideas", "why", "work", "decide/standings", f"runs/{RUN}", *OPERATE)


def test_every_page_over_hostile_text_runs_nothing_and_asks_nobody(reader: Reader) -> None:
    for name in EVERY_PAGE:
        reader.open(name, run=RUN)
        see_that_nothing_was_touched(reader)


@pytest.mark.parametrize("idea", some(("attack", HOSTILE), lambda idea: idea != HOSTILE))
def test_every_part_of_a_hostile_idea_runs_nothing_and_asks_nobody(
    idea: str, reader: Reader
) -> None:
    reader.troubles.clear()
    reader.open("idea", run=RUN, idea=idea)
    for fold in reader.page.locator("main details").all():
        fold.locator("summary").first.click()
    see_that_nothing_was_touched(reader)


def test_no_report_turns_the_reading_order_or_makes_an_address_live(warehouse: Warehouse) -> None:
    validate_published(warehouse, [RUNS])
    index, _ = write_reports(warehouse, RUN)
    pages = [*index.parent.rglob("*.html"), *index.parent.rglob("*.md")]
    texts = [path.read_text() for path in pages] + [data_docs(warehouse, RUN)]
    assert len(texts) > 6
    for text in texts:
        assert not set(text) & set(TURNING)
        assert 'href="https://evil.example' not in text


@pytest.mark.long
def test_hostile_values_of_an_address_run_nothing_and_ask_nobody(reader: Reader) -> None:
    reader.troubles.clear()
    names = ("", "ideas", "idea", "paper", "work", *OPERATE)
    for name in names:
        keys = ("run", "idea", "group", "view", "what", "model", "table", "set", "saved", "sql")
        hostile = dict.fromkeys(keys, ATTACK[:300]) | {"job": ATTACK[:200]}
        reader.page.goto(f"{reader.base_url}/{name}?{urlencode(hostile)}")
        assert [each for each in reader.troubles if "status of 404" not in each] == []
        reader.troubles.clear()  # most pages say that there is no such run
        assert reader.page.evaluate("window.touched") is None
