"""`assay ledger`: verification of the record of actions."""

from flows.cli.answer import print_answer
from flows.cli.options import Commands, Json
from flows.cli.terminal import print_note, print_warning
from schemas.errors import ConfigurationError
from schemas.people.ledger import LedgerOptions
from schemas.text.patterns import bounded
from warehouse.warehouse import Warehouse

application = Commands()
_WHOLE_HASH = bounded(r"[0-9a-f]{64}")


@application.command("verify")
def verify(options: LedgerOptions, json: Json = False) -> int:
    """Find ledger rows that were changed, exchanged, removed or cut off; exit 1 if there are any.

    Published ideas and answers of steps are compared with the ledger too. Papers and calls are
    not in the ledger.
    """
    from warehouse.verify.verify_ledger import verify_ledger

    for head in options.head:
        if not _WHOLE_HASH.fullmatch(head):  # a shortened hash would never be found
            raise ConfigurationError(f"--head {head[:80]!r}: write the whole hash, of 64 digits")
    report = verify_ledger(Warehouse(options.warehouse.resolve()), heads=options.head)
    if json:
        print_answer(
            "whole" if report.sound else "damaged",
            [report.head],
            warnings=report.problems,
            notices=report.notices,
        )
        return 0 if report.sound else 1
    for line in report.problems:
        print_warning(line)
    for line in report.notices:
        print_note(line)
    rows = f"{report.head.sequence:,} rows, head {report.head.entry_sha256 or 'none'}"
    print_note(f"the ledger is whole: {rows}" if report.sound else f"the ledger is damaged: {rows}")
    return 0 if report.sound else 1
