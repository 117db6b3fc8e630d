"""Data Docs of a run: the results of Great Expectations in one self-contained page, which it
renders.
"""

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
    """One HTML page about the checks held against a published run of ideas, check of manuscripts or
    benchmark.

    Raises:
        ConfigurationError: no such lake, nothing checked under that name, or not yet by Great
            Expectations.
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
    """The page: Great Expectations' sections for every table, in a frame of our own, since its own
    loads scripts from elsewhere.

    Raises:
        ConfigurationError: a result is none of Great Expectations.
    """
    renderer = ValidationResultsPageRenderer(run_info_at_end=True)
    boundary, sections = ErrorBoundary(), []
    with boundary:  # whoever writes to the lake may have written any JSON
        suites = suite_results(rows)
        sections = [(suite, section) for suite in suites for section in _sections(renderer, suite)]
    if boundary.error is not None:
        raise ConfigurationError(
            f"what the lake holds as results of Great Expectations about {run_id} is none"
            f" ({error_line(boundary.error)}): bring the lake back from a copy"
        )
    view = DefaultJinjaPageView(custom_views_directory=str(_TEMPLATES))
    html = view.env.get_template("data_docs.html.jinja").render(run_id=run_id, sections=sections)
    return unturned("\n".join(stripped for line in html.split("\n") if (stripped := line.strip())))


def _sections(
    renderer: ValidationResultsPageRenderer, suite: ExpectationSuiteValidationResult
) -> list[dict[str, Any]]:
    """Overview and columns; not the repeated run info, and no link to the page of a suite, which is
    not written.
    """
    sections: list[dict[str, Any]] = renderer.render(suite).to_json_dict()["sections"][:-1]
    overview = sections[0]["content_blocks"][0]["subheader"]["string_template"]
    overview["styling"]["params"].pop("expectation_suite_name")
    return sections
