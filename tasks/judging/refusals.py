"""Whether a reply without JSON is a refusal."""

from schemas.patterns import IGNORECASE, bounded

_REFUSAL = bounded(
    r"^\W*+(?:(?:i['’]?m|i am|we['’]?re) (?:sorry|afraid|unable|not able)|sorry\b|(?:my )?apologies|i apologi[sz]e"
    r"|unfortunately,? i|(?:i|we) (?:can['’]?t|cannot|can not|won['’]?t|will not|must decline|have to decline|decline)"
    r"|as an ai\b|this request (?:violates|goes against)|i['’]m not comfortable)",
    IGNORECASE,
)
_LONGEST = 1500


def is_refusal(text: str) -> bool:
    """Whether `text`, which holds no JSON, opens with the words of a refusal."""
    return len(text) <= _LONGEST and _REFUSAL.match(text) is not None
