"""Entries that hold several ideas to be ranked against each other, taken apart into one entry per
idea.

Understood are groups and pairs, in JSON and JSON Lines; an idea may stand under `paper` or `idea`,
with a label beside it:

    {"group": "g1", "cutoff_date": "2025-01-01", "ideas": [{"idea_id": "a", "text": "…"}, …]}
    {"query": {"paper_id": "a", "title": "…", "abstract": "…"},
     "matches": {"reject": {"paper": {…}}, "oral": {"paper": {…}}}}
    {"group_id": "g1", "paper_a": {…}, "paper_b": {…}}

An object of nothing but ideas, each under its identifier, is taken apart too, and is no group.

Labels and decisions become metadata, which no engine is ever shown.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from schemas.idea import RejectedIdea
from tasks.ideas.cells import is_blank, scalar_text
from tasks.ideas.columns import LEFT_OUT, Columns
from tasks.ideas.fields import Entries, Entry, is_keyed, unreadable
from tasks.ideas.names import has_part, meaning_of

LEADER = "query"
LISTS = ("matches", "candidates", "ideas")
PAIR = ("paper_a", "paper_b")
_GROUP_NAMES = ("group", "group_id", "query_internal_id")
_ID_NAMES = ("idea_id", "paper_id", "id")
_WRAPPERS = ("paper", "idea")
_LABEL_NAMES = ("decision", "label", "category")
_INHERITED = ("cutoff_date", "cutoff")
_READ_OF_GROUPS = (
    *(LEADER, *LISTS, *PAIR, *_GROUP_NAMES, *_INHERITED, "query_category"),
    *("missing_categories", "pool_size", "rerank_top_k", "difficulty", "pair_type"),
)
"""What is read beside the ideas of a group, and what benchmarks say of how it was made."""


@dataclass(slots=True)
class GroupNames:
    """Names given out so far: a second group of one name becomes `name#2`, so that groups never run
    together.
    """

    _taken: Counter[str] = field(default_factory=Counter)

    def unique(self, name: str) -> str:
        while self._taken[name]:
            self._taken[name] += 1
            name = f"{name}#{self._taken[name]}"
        self._taken[name] = 1
        return name


def ungrouped(entries: Entries, columns: Columns) -> Entries:
    """`entries` with every group replaced by its ideas; other entries pass through. What stands
    beside the ideas of a group is noted in `columns`.

    An idea of a group is called `<group>:<its own identifier>`, since the same idea may stand in
    several groups.
    """
    names = GroupNames()
    first = next(entries, None)
    second = next(entries, None)
    if isinstance(first, Entry) and second is None and _is_one_list(first.fields):
        yield from _listed(first, columns)
        return
    for entry in chain((each for each in (first, second) if each is not None), entries):
        if isinstance(entry, RejectedIdea):
            yield entry
        elif is_group(entry.fields):
            yield from _members(entry, names, columns)
        elif is_keyed(entry.fields):
            for key, value in entry.fields.items():
                assert isinstance(value, Mapping)
                named = any(meaning_of(str(name)) == "idea_id" for name in value)
                fields = {str(name): held for name, held in value.items()}
                own = fields if named else {"idea_id": str(key), **fields}
                yield Entry(f"{entry.location}, {str(key)[:40]}", own)
        else:
            yield entry


def is_group(fields: Mapping[str, object]) -> bool:
    """Return whether an entry holds several ideas; what has a text of its own is one idea."""
    if has_part(str(name) for name in fields if name not in LISTS):
        return False
    if all(isinstance(fields.get(name), Mapping) for name in PAIR):
        return True
    listed = next((fields[name] for name in LISTS if name in fields), None)
    if isinstance(listed, Mapping):
        named = bool(listed) and all(isinstance(member, Mapping) for member in listed.values())
        return named or isinstance(fields.get(LEADER), Mapping)
    return isinstance(listed, list) and any(isinstance(member, Mapping | str) for member in listed)


def _is_one_list(fields: Mapping[str, object]) -> bool:
    """Return whether a document holds ideas that are in no group: only a list of them, without a
    name.
    """
    named = (*_GROUP_NAMES, LEADER, *PAIR)
    return is_group(fields) and "ideas" in fields and not any(name in fields for name in named)


def _listed(entry: Entry, columns: Columns) -> Entries:
    """The ideas of a document, which stand under their names or in a list."""
    _note_left_out(entry.fields, _READ_OF_GROUPS, columns)
    inherited = {name: entry.fields[name] for name in _INHERITED if name in entry.fields}
    listed = entry.fields["ideas"]
    for label, member in _labelled(entry.fields):
        location = f"{entry.location}, {label}"
        if not isinstance(member, Mapping):
            yield unreadable(location, 'this is no JSON object: write the idea as {"text": "..."}')
            continue
        fields = {**inherited, **{str(name): value for name, value in member.items()}}
        if isinstance(listed, Mapping) and not any(
            meaning_of(name) in ("title", "idea_id") for name in fields
        ):
            fields["title"] = label
        yield Entry(location, fields)


def _members(entry: Entry, names: GroupNames, columns: Columns) -> Entries:
    group = names.unique(_group_name(entry))
    _note_left_out(entry.fields, _READ_OF_GROUPS, columns)
    found = list(_labelled(entry.fields))
    if len(found) == 0:
        yield unreadable(entry.location, "the group holds no idea: list its ideas under `ideas`")
    for label, member in found:
        location = f"{entry.location}, {label}"
        if not isinstance(member, Mapping):
            yield unreadable(location, 'this is no JSON object: write the idea as {"text": "..."}')
        else:
            yield Entry(location, _fields(member, label, group, entry.fields, columns))


def _labelled(fields: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    if LEADER in fields:
        yield LEADER, fields[LEADER]
    for name in PAIR:
        if name in fields:
            yield name, fields[name]
    for name in LISTS:
        listed = fields.get(name)
        if isinstance(listed, Mapping):
            yield from ((str(label), member) for label, member in listed.items())
        elif isinstance(listed, list):
            texts = all(isinstance(member, str) for member in listed)
            yield from (
                (f"{name} {number}", {"text": member} if texts else member)
                for number, member in enumerate(listed, start=1)
            )


def _group_name(entry: Entry) -> str:
    for name in _GROUP_NAMES:
        text = scalar_text(entry.fields.get(name))
        if text is not None and text.strip():
            return text.strip()
    leader = entry.fields.get(LEADER)
    own = _first_text(leader, _ID_NAMES) if isinstance(leader, Mapping) else None
    return own or f"group {entry.location.rpartition(' ')[2]}"


def _fields(
    member: Mapping[str, object],
    label: str,
    group: str,
    around: Mapping[str, object],
    columns: Columns,
) -> dict[str, object]:
    """The idea's fields as `parse_entry` reads them; what stood around the idea counts where the
    idea is silent.
    """
    inner = next(
        (member[name] for name in _WRAPPERS if isinstance(member.get(name), Mapping)), member
    )
    assert isinstance(inner, Mapping)
    if inner is not member:
        _note_left_out(member, (*_WRAPPERS, *_LABEL_NAMES), columns)
    fields: dict[str, object] = {
        name: value for name, value in inner.items() if name not in _ID_NAMES
    }
    own = _first_text(inner, _ID_NAMES)
    fields["idea_id"] = f"{group}:{own or label}"
    fields["group"] = group
    decision = (
        _first_text(inner, _LABEL_NAMES)
        or _first_text(member, _LABEL_NAMES)
        or _decision_of(label, around)
    )
    if decision is not None:
        fields["decision"] = decision
    for name in _INHERITED:
        if name not in fields and around.get(name) is not None:
            fields[name] = around[name]
    return fields


def _note_left_out(fields: Mapping[str, object], read: tuple[str, ...], columns: Columns) -> None:
    for name, value in fields.items():
        if name not in read and not is_blank(value):
            columns.note(f"{name} (beside the ideas)", LEFT_OUT, value)


def _decision_of(label: str, around: Mapping[str, object]) -> str | None:
    """A group's ideas may be listed under their labels; of the query the label stands beside it."""
    if label == LEADER:
        return scalar_text(around.get("query_category"))
    return label if any(isinstance(around.get(name), Mapping) for name in LISTS) else None


def _first_text(fields: Mapping[str, object], names: tuple[str, ...]) -> str | None:
    found = (scalar_text(fields.get(name)) for name in names)
    return next((text.strip() for text in found if text is not None and text.strip()), None)
