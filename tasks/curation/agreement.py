"""How far people agree who looked at the same of a curated set, one of them blind."""

from collections.abc import Sequence

from schemas.works.curation_edit import CurationEdit, EditAgreement, EditedField
from tasks.metrics.agreement import cohen_kappa
from warehouse.kinds.curations.edits import pairs_of

_CHOSEN = (EditedField.TYPE, EditedField.AXIS, EditedField.SEVERITY, EditedField.KEPT)
"""Fields of which one of a few words is chosen; of free text chance is not known."""


def agreement_on(edits: Sequence[CurationEdit]) -> tuple[EditAgreement, ...]:
    """Of each field that two people looked at, how often both made the same of it; and Cohen's
    kappa where a word is chosen.
    """
    return tuple(_agreement(field, pairs) for field, pairs in pairs_of(edits).items())


def _agreement(field: EditedField, pairs: Sequence[tuple[str, str]]) -> EditAgreement:
    equal = sum(one == other for one, other in pairs)
    if field not in _CHOSEN:
        return EditAgreement(field=field, pair_count=len(pairs), equal_count=equal)
    found = cohen_kappa([one for one, _ in pairs], [other for _, other in pairs])
    return EditAgreement(
        field=field,
        pair_count=len(pairs),
        equal_count=equal,
        kappa=None if found.undefined_reason else found.value,
        lower=None if found.interval.missing_reason else found.interval.lower,
        upper=None if found.interval.missing_reason else found.interval.upper,
        undefined_reason=found.undefined_reason,
    )
