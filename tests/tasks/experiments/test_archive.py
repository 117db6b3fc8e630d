"""Programs are kept that are good in different ways."""

from tasks.experiments.record import Entry, elites, least_used


def entry(name: str, gain: float, length: int = 100, seconds: float = 0.1) -> Entry:
    return Entry(name, gain, length, seconds)


def test_of_programs_of_one_kind_the_best_is_kept_and_of_another_kind_the_worse_one_too() -> None:
    alike = [entry("parent", 0), entry("c001", 0.5), entry("c002", 0.3, 105)]
    longer, slower = entry("c003", 0.1, 400), entry("c004", -0.2, 100, 30.0)
    kept = elites([*alike, longer, slower], 100)
    assert [each.name for each in kept] == ["c001", "c003", "c004"]


def test_of_equals_the_first_is_kept() -> None:
    assert [each.name for each in elites([entry("a", 0.5), entry("b", 0.5)], 100)] == ["a"]


def test_what_takes_no_time_worth_telling_is_of_one_kind() -> None:
    kept = elites([entry("a", 0.1, seconds=0.1), entry("b", 0.2, seconds=1.1)], 100)
    assert [each.name for each in kept] == ["b"]


def test_whoever_was_gone_on_from_least_often_comes_first() -> None:
    entries = [entry("a", 0.5), entry("b", 0.3), entry("c", 0.4)]
    assert least_used(entries, {"a": 1}).name == "c"
    assert least_used(entries, {"a": 1, "b": 1, "c": 1}).name == "a"
