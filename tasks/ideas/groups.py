"""Groups of ideas that are ranked against each other, split into one entry per idea.

Groups and pairs are accepted in JSON and JSON Lines; an idea may be under `paper` or `idea`, with a
label next to it:

    {"group": "g1", "cutoff_date": "2025-01-01", "ideas": [{"idea_id": "a", "text": "…"}, …]}
    {"query": {"paper_id": "a", "title": "…", "abstract": "…"},
     "matches": {"reject": {"paper": {…}}, "oral": {"paper": {…}}}}
    {"group_id": "g1", "paper_a": {…}, "paper_b": {…}}

An object that contains only ideas, each under its identifier, is split too, but is no group.
Labels and decisions become metadata, which prompts never contain.
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
_PLAIN_LISTS = ("ideas", "notes")
"""Lists that need not be a group; OpenReview lists `notes`."""
LISTS = ("matches", "candidates", *_PLAIN_LISTS)
PAIR = ("paper_a", "paper_b")
_GROUP_NAMES = ("group", "group_id", "query_internal_id")
_ID_NAMES = ("idea_id", "paper_id", "id")
_WRAPPERS = ("paper", "idea")
_NO_OBJECT = 'this is no JSON object: write the idea as {"text": "..."}'
_LABEL_NAMES = ("decision", "label", "category")
_INHERITED_FIELDS = ("cutoff_date", "cutoff")
_READ_OF_GROUPS = (
    *(LEADER, *LISTS, *PAIR, *_GROUP_NAMES, *_INHERITED_FIELDS, "query_category"),
    *("missing_categories", "pool_size", "rerank_top_k", "difficulty", "pair_type"),
)
"""Fields of a group that are read, and fields with which benchmarks describe its origin."""


@dataclass(slots=True)
class GroupNames:
    """Group names used so far: a second group `name` becomes `name#2` and stays separate."""

    _counts: Counter[str] = field(default_factory=Counter)

    def unique(self, name: str) -> str:
        while self._counts[name]:
            self._counts[name] += 1
            name = f"{name}#{self._counts[name]}"
        self._counts[name] = 1
        return name


def split_groups(entries: Entries, columns: Columns) -> Entries:
    """Replace every group in `entries` by its ideas; pass other entries through.

    Fields outside the ideas are noted in `columns`. An idea of a group gets the id
    `<group>:<its own id>`, because the same idea may be in several groups.
    """
    names = GroupNames()
    first = next(entries, None)
    second = next(entries, None)
    if isinstance(first, Entry) and second is None and _is_one_list(first.fields):
        yield from _ideas_of_list(first, columns)
        return
    for entry in chain((each for each in (first, second) if each is not None), entries):
        if isinstance(entry, RejectedIdea):
            yield entry
        elif is_group(entry.fields):
            yield from _ideas_of_group(entry, names, columns)
        elif is_keyed(entry.fields):
            for key, value in entry.fields.items():
                assert isinstance(value, Mapping)
                has_id = any(meaning_of(str(name)) == "idea_id" for name in value)
                fields = {str(name): field_value for name, field_value in value.items()}
                if not has_id:
                    fields = {"idea_id": str(key), **fields}
                yield Entry(f"{entry.location}, {str(key)[:40]}", fields)
        else:
            yield entry


def is_group(fields: Mapping[str, object]) -> bool:
    """Return whether an entry contains several ideas.

    An entry with its own text is one idea.
    """
    if has_part(str(name) for name in fields if name not in LISTS):
        return False
    if all(isinstance(fields.get(name), Mapping) for name in PAIR):
        return True
    members = next((fields[name] for name in LISTS if name in fields), None)
    if isinstance(members, Mapping):
        is_named = bool(members) and all(isinstance(each, Mapping) for each in members.values())
        return is_named or isinstance(fields.get(LEADER), Mapping)
    return isinstance(members, list) and any(isinstance(each, Mapping | str) for each in members)


def _is_one_list(fields: Mapping[str, object]) -> bool:
    """Return whether a document is an unnamed list of ideas, which is no group."""
    is_named = any(name in fields for name in (*_GROUP_NAMES, LEADER, *PAIR))
    return is_group(fields) and not is_named and not fields.keys().isdisjoint(_PLAIN_LISTS)


def _ideas_of_list(entry: Entry, columns: Columns) -> Entries:
    inherited_fields = {
        name: entry.fields[name] for name in _INHERITED_FIELDS if name in entry.fields
    }
    is_mapping = isinstance(entry.fields.get("ideas"), Mapping)
    for location, label, member in _members(entry, columns):
        if member is None:
            yield unreadable(location, _NO_OBJECT)
            continue
        fields = {**inherited_fields, **{str(name): value for name, value in member.items()}}
        if is_mapping and not any(meaning_of(name) in ("title", "idea_id") for name in fields):
            fields["title"] = label
        yield Entry(location, fields)


def _ideas_of_group(entry: Entry, names: GroupNames, columns: Columns) -> Entries:
    group = names.unique(_group_name(entry))
    members = list(_members(entry, columns))
    if not members:
        yield unreadable(entry.location, "the group holds no idea: list its ideas under `ideas`")
    for location, label, member in members:
        if member is None:
            yield unreadable(location, _NO_OBJECT)
        else:
            yield Entry(location, _fields(member, label, group, entry.fields, columns))


def _members(
    entry: Entry, columns: Columns
) -> Iterator[tuple[str, str, Mapping[str, object] | None]]:
    """Yield location, label and object of each idea.

    The object is None for a value of another type.
    """
    _note_left_out(entry.fields, _READ_OF_GROUPS, columns)
    for label, member in _members_by_label(entry.fields):
        location = f"{entry.location}, {label}"
        yield location, label, member if isinstance(member, Mapping) else None


def _members_by_label(fields: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    if LEADER in fields:
        yield LEADER, fields[LEADER]
    for name in PAIR:
        if name in fields:
            yield name, fields[name]
    for name in LISTS:
        members = fields.get(name)
        if isinstance(members, Mapping):
            yield from ((str(label), member) for label, member in members.items())
        elif isinstance(members, list):
            texts = all(isinstance(member, str) for member in members)
            for number, member in enumerate(members, start=1):
                if isinstance(member, Mapping) and is_keyed(member):  # each under its title
                    yield from ((str(key), {"title": key, **each}) for key, each in member.items())
                else:
                    yield f"{name} {number}", {"text": member} if texts else member


def _group_name(entry: Entry) -> str:
    for name in _GROUP_NAMES:
        text = scalar_text(entry.fields.get(name))
        if text is not None and text.strip():
            return text.strip()
    leader = entry.fields.get(LEADER)
    leader_id = _first_text(leader, _ID_NAMES) if isinstance(leader, Mapping) else None
    return leader_id or f"group {entry.location.rpartition(' ')[2]}"


def _fields(
    member: Mapping[str, object],
    label: str,
    group: str,
    group_fields: Mapping[str, object],
    columns: Columns,
) -> dict[str, object]:
    """Return the fields of an idea; those of the group fill gaps."""
    inner = next(
        (member[name] for name in _WRAPPERS if isinstance(member.get(name), Mapping)), member
    )
    assert isinstance(inner, Mapping)
    if inner is not member:
        _note_left_out(member, (*_WRAPPERS, *_LABEL_NAMES), columns)
    fields: dict[str, object] = {
        name: value for name, value in inner.items() if name not in _ID_NAMES
    }
    own_id = _first_text(inner, _ID_NAMES)
    fields["idea_id"] = f"{group}:{own_id or label}"
    fields["group"] = group
    decision = (
        _first_text(inner, _LABEL_NAMES)
        or _first_text(member, _LABEL_NAMES)
        or _decision_of(label, group_fields)
    )
    if decision is not None:
        fields["decision"] = decision
    for name in _INHERITED_FIELDS:
        if name not in fields and group_fields.get(name) is not None:
            fields[name] = group_fields[name]
    return fields


def _note_left_out(
    fields: Mapping[str, object], expected_names: tuple[str, ...], columns: Columns
) -> None:
    for name, value in fields.items():
        if name not in expected_names and not is_blank(value):
            columns.note(f"{name} (beside the ideas)", LEFT_OUT, value)


def _decision_of(label: str, group_fields: Mapping[str, object]) -> str | None:
    """Return the decision, which is the label of an idea listed under one.

    The decision of the query is a field.
    """
    if label == LEADER:
        return scalar_text(group_fields.get("query_category"))
    return label if any(isinstance(group_fields.get(name), Mapping) for name in LISTS) else None


def _first_text(fields: Mapping[str, object], names: tuple[str, ...]) -> str | None:
    texts = (scalar_text(fields.get(name)) for name in names)
    return next((text.strip() for text in texts if text is not None and text.strip()), None)
