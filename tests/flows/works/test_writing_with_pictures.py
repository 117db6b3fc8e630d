"""`assay write --image-model`: what an image model draws stands marked as such, or not at all."""

import asyncio
import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pypandoc
import pypdfium2
import pytest
from PIL import Image, ImageChops

from dashboards.render.drafts.draft_folder import write_folder
from flows.cli.answer import EXIT_DONE, EXIT_USAGE
from flows.profiles import load_profile
from flows.run.declared_campaign import DeclaredCampaign, run_id
from flows.run.requests import request_of
from schemas.base import replace
from schemas.calls import CallStatus
from schemas.choices import EngineChoice
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.options.values import DEFAULT_PROFILE
from schemas.reasons import Reason
from schemas.settings import Settings
from schemas.works.draft import Draft, DraftFigure, FigureKind, PictureSpec
from schemas.works.draft_run import DraftRequest, DraftRevision, SectionPoint, WriteOptions
from tasks.shards import work
from tasks.shards.work import land_unit
from tasks.work.shard import WorkShard, work_on
from tasks.writing.checking import check
from tasks.writing.expected import PICTURE_STEPS, steps_of
from tasks.writing.figures import png_of
from tasks.writing.work import WRITE
from tests.support.answers import read_answer
from tests.support.assay_here import run, settle
from tests.support.draft_writer import CAPTION, ENGINE, answer
from tests.support.openai_server import (
    MODEL_ANSWERED,
    Messages,
    OpenAIServer,
    Recorded,
    start_openai_server,
)
from tests.support.schema_answers import Schema
from tests.support.tiers import some

MODEL = "openai/gpt-image-1"
IDEA = {
    "idea_id": "bats",
    "title": "Bats and steps",
    "problem": "Bats choose badly among steps.",
    "method": "Show bats steps and count which they take.",
}
POINT = "The box that counts bats is called Cuont."


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with start_openai_server(answer=answer) as running:
        yield running


def with_idea(folder: Path, patch: pytest.MonkeyPatch) -> Path:
    settle(folder, patch)
    (folder / "idea.jsonl").write_text(json.dumps(IDEA))
    return folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return with_idea(tmp_path, monkeypatch)


def asked(server: OpenAIServer, **more: Any) -> DraftRequest:
    given = {"image_model": MODEL, "api_base": server.url, "engine": EngineChoice.parse(ENGINE)}
    options = WriteOptions(warehouse=Path("w"), **(given | more))
    return request_of(WRITE, (Path("idea.jsonl"), "", None), options, Settings())


def named(request: DraftRequest) -> RunId:
    return run_id(WRITE, request, "", Settings())


def with_plan(request: DraftRequest, **changes: Any) -> DraftRequest:
    (planned,) = request.units
    return replace(request, units=(replace(planned, **changes),))


def written(request: DraftRequest) -> Draft:
    """The draft as it lands."""
    landed: list[Draft] = []

    def land(warehouse: Any, record: Any, run_id: Any, draft: Draft, *times: Any) -> Any:
        landed.append(draft)
        return land_unit(warehouse, record, run_id, draft, *times)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(work, "land_unit", land)
        names = tuple(planned.draft_id for planned in request.units)
        shard = WorkShard[DraftRequest](run_id=named(request), request=request, names=names)
        asyncio.run(work_on(WRITE, shard, Settings()))
    (draft,) = landed
    return draft


class Drawn(NamedTuple):
    """A draft whose method figure an image model drew, with what it was asked."""

    folder: Path
    request: DraftRequest
    draft: Draft
    asked: Recorded


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drawn]:
    with (
        pytest.MonkeyPatch.context() as patch,
        start_openai_server(answer=answer) as running,
    ):
        folder = with_idea(tmp_path_factory.mktemp("drawn"), patch)
        request = asked(running)
        draft = written(request)
        (picture,) = asked_for_pictures(running)
        yield Drawn(folder, request, draft, picture)


def drawing(behaviour: str) -> Any:
    """That behaviour where a picture is asked for."""

    def of(request: Recorded) -> str:
        return behaviour if request.path.endswith("/images/generations") else "good"

    return of


def misleading(*wrong: str) -> Any:
    """A model that finds every picture wrong that it is shown with such a prompt."""

    def of(messages: Messages, schema: Schema | None) -> Any:
        system = messages[0]["content"]
        found = answer(messages, schema)
        if any(system.startswith("You look at one figure") and each in system for each in wrong):
            return {"points": [{"point": POINT, "misleads": True}]}
        return found

    return of


def method_figure(draft: Draft) -> DraftFigure:
    return next(figure for figure in draft.figures if figure.figure_id == "method")


def asked_for_pictures(server: OpenAIServer) -> list[Recorded]:
    return [each for each in server.requests if each.path.endswith("/images/generations")]


def test_a_drawn_figure_is_marked_wherever_it_stands(drawn: Drawn) -> None:
    draft = drawn.draft
    figure = method_figure(draft)
    assert (figure.kind, figure.drawn_by, figure.seen_by) == (FigureKind.PICTURE, MODEL, "")
    made = (
        f"was drawn by {MODEL}, an image model, from boxes and arrows that a language model"
        " described. It shows no data. No model that sees has looked at it."
    )
    assert figure.made == f"This figure {made}"
    shown = " ".join(pypandoc.convert_text(draft.markdown, "plain", format="markdown").split())
    assert f"{CAPTION} This figure {made}" in shown
    declared = next(claim for claim in draft.claims if claim.claim_key == "declaration")
    assert declared.shown.endswith(f" Its method figure {made}")
    assert declared.shown in shown
    assert (draft.failures, draft.unscored_reason) == ((), None)
    assert check(draft, ()) == ()

    spec = PictureSpec.model_validate_json(figure.spec)
    assert spec.prompt == drawn.asked.body["prompt"]
    assert spec.png_sha256 == hashlib.sha256(png_of(figure)).hexdigest()
    assert [node.label for node in spec.graph.nodes] == ["show bats", "count bats"]
    assert "show bats -> count bats" in spec.prompt
    assert IDEA["problem"] not in spec.prompt
    (row,) = [call for call in draft.llm_calls if call.step == "draw_method_figure"]
    assert (row.status, row.model_requested) == (CallStatus.OK, MODEL)
    assert row.cost_usd is not None
    assert row.cost_usd > 0


def test_a_drawn_figure_is_seen_in_every_file(drawn: Drawn) -> None:
    request, draft = drawn.request, drawn.draft
    head: Any = DeclaredCampaign(WRITE, request)._head()
    folder = drawn.folder / "draft"
    write_folder(draft, head, "", folder)
    whole = Image.open(io.BytesIO(png_of(method_figure(draft)))).convert("RGB")
    figures = folder / "figures"
    svg = ElementTree.parse(figures / "method.svg").getroot()
    assert [child.tag.rpartition("}")[2] for child in svg] == ["image"]
    page = pypdfium2.PdfDocument((figures / "method.pdf").read_bytes())[0]
    pictures = {
        "method.pdf": page.render(scale=3).to_pil().convert("RGB"),
        "method.png": Image.open(figures / "method.png").convert("RGB"),
    }
    for name, picture in pictures.items():
        apart = ImageChops.difference(whole.resize(picture.size), picture).convert("L")
        assert sum(apart.histogram()[64:]) < 0.02 * picture.width * picture.height, name
    (shown,) = [
        each
        for page in pypdfium2.PdfDocument((folder / "draft.pdf").read_bytes())
        for each in page.get_objects(max_depth=12)
        if each.type == pypdfium2.raw.FPDF_PAGEOBJ_IMAGE
    ]
    assert shown.get_px_size() == whole.size
    html = (folder / "draft.html").read_text()
    assert "data:image/svg+xml" in html or "data:image/png" in html
    with zipfile.ZipFile(folder / "draft.docx") as word:
        assert any(name.endswith(".png") for name in word.namelist())
    assert (
        f"`figures/method`: This figure was drawn by {MODEL}" in (folder / "README.md").read_text()
    )


def test_a_second_run_asks_for_no_picture(here: Path, server: OpenAIServer) -> None:
    first = asked(server)
    drawn = written(first)
    (planned,) = first.units
    material = replace(planned.material, title="B")
    other = with_plan(first, content_sha256="b", material=material)
    again = written(other)
    assert len(asked_for_pictures(server)) == 1
    assert again.failures == ()
    assert method_figure(again).svg == method_figure(drawn).svg
    (row,) = [call for call in again.llm_calls if call.step == "draw_method_figure"]
    assert (row.cache_hit, row.cost_usd) == (True, 0)


def test_a_second_round_keeps_the_picture_and_its_marks(here: Path, server: OpenAIServer) -> None:
    request = asked(server)
    first = written(request)
    point = SectionPoint(heading=first.sections[0].heading, point="Say it anew.")
    revision = DraftRevision(
        run_id=named(request),
        review_run_id=RunId("check-a"),
        draft=first,
        points=(point,),
    )
    second = written(with_plan(request, revision=revision))
    assert second.word_count
    assert second.figures == first.figures
    declared = [each for each in second.claims if each.claim_key == "declaration"]
    assert declared == [each for each in first.claims if each.claim_key == "declaration"]
    assert len(asked_for_pictures(server)) == 1


def test_a_model_that_sees_is_shown_it_beside_what_it_was_to_show(
    here: Path, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_LANGUAGE_MODEL__IMAGES", "yes")
    draft = written(asked(server))
    figure = method_figure(draft)
    assert figure.seen_by == MODEL_ANSWERED
    assert figure.made.endswith("A model that sees has looked at it.")
    (looked,) = [
        request.messages[1]["content"]
        for request in server.requests
        if "messages" in request.body and not isinstance(request.messages[1]["content"], str)
    ]
    assert looked[0]["type"] == "image_url"
    assert "show bats -> count bats" in looked[1]["text"]
    assert not any("made" in each for each in looked[1])


@pytest.mark.parametrize(
    ("wrong", "kind", "said"),
    [
        (("An image model drew it",), FigureKind.GRAPH, ["boxes and arrows stand instead"]),
        (
            ("An image model drew it", "Programs have measured"),
            FigureKind.GRAPH,
            ["boxes and arrows stand instead", "the fixed figure stands instead"],
        ),
    ],
)
def test_a_picture_that_misleads_gives_way_to_boxes_and_arrows(
    here: Path,
    server: OpenAIServer,
    monkeypatch: pytest.MonkeyPatch,
    wrong: tuple[str, ...],
    kind: FigureKind,
    said: list[str],
) -> None:
    monkeypatch.setenv("ASSAY_LANGUAGE_MODEL__IMAGES", "yes")
    server.answer = misleading(*wrong)
    draft = written(asked(server))
    figure = method_figure(draft)
    assert (figure.kind, figure.drawn_by) == (kind, "")
    assert (CAPTION in figure.caption) == (len(said) == 1), "described, or fixed"
    lines = [failure.detail for failure in draft.failures]
    assert len(lines) == len(said)
    for line, begins in zip(lines, said, strict=True):
        assert line.startswith(begins)
        assert line.endswith(POINT)
    assert MODEL not in draft.markdown


WRONG = {
    "content_policy": (Reason.REFUSED, "safety system"),
    "wrong_key": (Reason.ENGINE_UNAVAILABLE, "refused the key"),
    "empty": (Reason.REPLY_EMPTY, "no picture came"),
    "picture:vast": (Reason.REPLY_UNPARSABLE, "5,000 by 4,000 pixels"),
    "picture:small": (Reason.ILLEGIBLE, "67 an inch in print"),
    "picture:tall": (Reason.ILLEGIBLE, "2.5 times the other"),
    "picture:blank": (Reason.ILLEGIBLE, "of one colour"),
    "hangs": (Reason.TIMED_OUT, ""),
}


@pytest.mark.parametrize(
    "behaviour", some(WRONG, {"content_policy", "picture:vast", "picture:tall"}.__contains__)
)
def test_whatever_goes_wrong_boxes_and_arrows_stand_and_a_row_says_why(
    here: Path, server: OpenAIServer, behaviour: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason, said = WRONG[behaviour]
    if behaviour == "hangs":
        monkeypatch.setenv("ASSAY_LANGUAGE_MODEL__TIMEOUT_SECONDS", "2")
    server.behaviour = drawing(behaviour)
    draft = written(asked(server))
    figure = method_figure(draft)
    assert (figure.kind, figure.drawn_by, figure.made) == (FigureKind.GRAPH, "", "")
    assert CAPTION in figure.caption
    (failure,) = draft.failures
    assert (failure.subject, failure.reason) == ("Figure method", reason)
    assert failure.detail.startswith("boxes and arrows stand instead of the image model's picture")
    assert said in failure.detail
    assert "\n" not in failure.detail
    assert MODEL not in draft.markdown
    assert draft.word_count
    (row,) = [call for call in draft.llm_calls if call.step == "draw_method_figure"]
    if behaviour == "hangs":
        assert (row.status, row.cost_usd) == (CallStatus.TIMED_OUT, None)


def test_other_pixels_than_were_drawn_are_refused(drawn: Drawn) -> None:
    draft = drawn.draft
    figure = method_figure(draft)
    for svg in (
        figure.svg.replace('height="', 'height="1', 1),
        figure.svg.replace("</svg>", "<text>99 %</text></svg>"),
        figure.svg.replace("iVBOR", "jVBOR"),
    ):
        changed = replace(figure, svg=svg)
        lines = check(replace(draft, figures=(changed,)), ())
        assert {line.reason for line in lines} == {Reason.ILLEGIBLE}
    faked = figure.caption.replace("It shows no data", "It shows 12 bats")
    lines = check(replace(draft, figures=(replace(figure, caption=faked),)), ())
    assert Reason.UNTRACED in {line.reason for line in lines}


def test_without_an_image_model_a_draft_is_the_one_it_was(here: Path, server: OpenAIServer) -> None:
    plain = asked(server, image_model=None)
    assert plain.profile == load_profile(DEFAULT_PROFILE)
    assert not {*PICTURE_STEPS} & {*steps_of(plain.parameters)}
    assert named(plain) != named(asked(server))
    assert named(asked(server)) != named(asked(server, image_model="openai/other"))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"engine": EngineChoice(), "api_base": None}, "add --engine litellm:MODEL"),
        ({"image_model": "an image model"}, "such as openai/gpt-image-1"),
    ],
)
def test_a_model_that_cannot_be_asked_is_named_in_one_line(
    here: Path, server: OpenAIServer, more: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigurationError, match=said) as raised:
        asked(server, **more)
    assert str(raised.value).startswith("--image-model")


def write(server: OpenAIServer, *more: str) -> int:
    words = ["write", "idea.jsonl", "--warehouse", "w", "-o", "draft", "--engine", ENGINE]
    return run(*words, "--api-base", server.url, *more)


def test_what_a_picture_costs_is_said_before_and_models_that_draw_none_are_named(
    here: Path, server: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert write(server, "--image-model", MODEL, "--dry-run", "--json") == EXIT_DONE
    told = read_answer(capsys.readouterr().out)
    (row,) = [row for row in told["rows"] if row["step"] == "draw_method_figure"]
    assert (row["models"], row["calls"]) == ([MODEL], 1)
    assert row["cost_usd"] == pytest.approx(0.25, abs=0.01)
    assert "look_at_picture" not in {row["step"] for row in told["rows"]}
    assert write(server, "--image-model", "openai/gpt-4o") == EXIT_USAGE
    assert "openai/gpt-4o gives no pictures" in capsys.readouterr().err
    assert server.requests == []


def test_a_draft_with_a_picture_is_published_and_reported(
    here: Path, server: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert write(server, "--image-model", MODEL, "--json") == EXIT_DONE
    told = read_answer(capsys.readouterr().out)
    (draft,) = told["rows"]
    figure = next(each for each in draft["figures"] if each["figure_id"] == "method")
    assert (figure["kind"], figure["drawn_by"]) == ("picture", MODEL)
    (report,) = [Path(path) for path in told["reports"] if path.endswith(".md")]
    assert f"This figure was drawn by {MODEL}, an image model" in report.read_text()
    count = len(server.requests)
    assert write(server, "--image-model", MODEL) == EXIT_DONE
    assert len(asked_for_pictures(server)) == 1
    assert len(server.requests) <= count + 1
