"""`assay votes`: report on blind votes and their reliability."""

from dashboards.render import figures
from flows.cli.answer import print_answer
from flows.cli.options import Json
from flows.cli.output import number, print_table
from flows.cli.terminal import print_note
from schemas.people.vote_report import VoteFigure, VotesOptions
from warehouse.warehouse import Warehouse

# Labels of the table; `--json` has the names.
_WORDS = {
    "krippendorff_alpha": "agreement of voters (Krippendorff's alpha)",
    "attention_checks_passed": "attention checks passed (share)",
    "cohen_kappa_with_engine": "agreement with the engine (Cohen's kappa)",
    "kendall_with_engine": "order of ideas compared with the engine's (Kendall's tau)",
    "groups_whose_leader_stays": "groups that keep the engine's leader (share)",
    "log_odds_per_doubling_of_length": "pull of twice the words (log odds)",
    "log_odds_per_doubling_of_citations": "pull of twice the citations (log odds)",
    "log_odds_of_standing_first": "pull of standing first (log odds)",
}


def votes(options: VotesOptions, json: Json = False) -> int:
    """Report on the votes cast on the dashboard: agreement, biases, careless voters and leaders."""
    from flows.people.vote_report import report_on_votes

    report = report_on_votes(Warehouse(options.warehouse.resolve()).existing(), options.by)
    if json:
        state = "voted" if report.vote_count else "no_votes"
        print_answer(
            state,
            report.board,
            figures=report.figures,
            careless=report.careless,
            vote_count=report.vote_count,
            voter_count=report.voter_count,
        )
        return 0
    if report.board:
        print_table(
            ["group", "rank", options.by.value, "strength", "95 %", "Elo", "votes"],
            [
                [
                    row.group,
                    row.rank,
                    row.name,
                    number(row.strength),
                    f"{row.lower:.2f} … {row.upper:.2f}",
                    f"{row.elo:.0f}",
                    row.vote_count,
                ]
                for row in report.board
            ],
        )
    print_table(
        ["figure", "value", "95 %", "rests on"],
        [
            [_WORDS[figure.name], *_value_and_interval(figure), figure.count]
            for figure in report.figures
        ],
    )
    for one in report.careless:
        print_note(
            f"{one.voter} may vote without reading ({one.careless_0_to_1:.0%}):"
            f" {one.vote_count} votes, {one.first_share_0_to_1:.0%} for the first,"
            f" {one.checks_failed} of {one.checks_failed + one.checks_passed} checks failed"
        )
    votes_told = figures.plural(report.vote_count, "vote")
    print_note(f"{votes_told} of {figures.plural(report.voter_count, 'voter')}")
    return 0


def _value_and_interval(figure: VoteFigure) -> tuple[str, str]:
    if figure.value is None:
        return "undefined", figure.undefined_reason or ""
    interval = "" if figure.lower is None else f"{figure.lower:.2f} … {figure.upper:.2f}"
    return f"{figure.value:.2f}", interval
