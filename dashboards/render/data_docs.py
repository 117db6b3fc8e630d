"""Data Docs: the Great Expectations results of a run in one page."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from great_expectations.core import ExpectationSuiteValidationResult
from great_expectations.render.renderer.page_renderer import ValidationResultsPageRenderer
from great_expectations.render.view import DefaultJinjaPageView

from schemas.boundary import ErrorBoundary, error_line
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.literature.naming import unturned
from schemas.run import ValidationRow
from warehouse.validate.great_expectations import suite_results
from warehouse.warehouse import Warehouse

_TEMPLATES = Path(__file__).parent / "templates"


def data_docs(warehouse: Warehouse, run_id: RunId) -> str:
    """Return one HTML page about the checks of published work.

    Raises:
        ConfigurationError: there is no such lake, nothing was checked under that name, or Great
            Expectations has not validated it yet.
    """
    with warehouse.queries() as queries:
        rows = queries.validations_of([run_id])
    if not rows:
        raise ConfigurationError(f"nothing that was checked is published under {run_id}")
    if not any(row.great_expectations for row in rows):
        raise ConfigurationError(
            f"Great Expectations has not validated {run_id} yet: `assay warehouse validate"
            f" --warehouse {warehouse.address}` does"
        )
    return data_docs_page(run_id, rows)


def data_docs_page(run_id: RunId, rows: Iterable[ValidationRow]) -> str:
    """Render the results of every table as one page.

    The frame is our own: that of Great Expectations loads scripts from elsewhere.

    Raises:
        ConfigurationError: a stored result is not one of Great Expectations.
    """
    renderer = ValidationResultsPageRenderer(run_info_at_end=True)
    boundary, sections = ErrorBoundary(), []
    with boundary:  # the lake may contain any JSON
        suites = suite_results(rows)
        sections = [(suite, section) for suite in suites for section in _sections(renderer, suite)]
    if boundary.error is not None:
        raise ConfigurationError(
            f"what the lake holds as results of Great Expectations about {run_id} is none"
            f" ({error_line(boundary.error)}): bring the lake back from a copy"
        )
    view = DefaultJinjaPageView(custom_views_directory=str(_TEMPLATES))
    html = view.env.get_template("data_docs.html.jinja").render(run_id=run_id, sections=sections)
    return unturned(
        "\n".join(stripped_line for line in html.split("\n") if (stripped_line := line.strip()))
    )


def _sections(
    renderer: ValidationResultsPageRenderer, suite: ExpectationSuiteValidationResult
) -> list[dict[str, Any]]:
    """Return overview and columns of a suite.

    The repeated run info is left out, and so is the link to the suite's page, which is not written.
    """
    sections: list[dict[str, Any]] = renderer.render(suite).to_json_dict()["sections"][:-1]
    overview = sections[0]["content_blocks"][0]["subheader"]["string_template"]
    overview["styling"]["params"].pop("expectation_suite_name")
    return sections
