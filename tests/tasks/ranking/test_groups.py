"""Groups found by embeddings."""

import numpy as np
import pytest

from tasks.ranking import groups
from tasks.ranking.groups import find_groups
from tests.support.contribution_fakes import WordEmbedder
from tests.support.ranking_fakes import dossier

SUBJECTS = {
    "bee": "Pollination of orchards by honeybees under drought and pesticide stress.",
    "net": "Sparse attention routing in transformer language networks.",
    "gel": "Hydrogel scaffolds for cartilage repair in knees.",
}
IDEAS = [
    dossier(f"{name}{number}", None, text=text)
    for number in range(4)
    for name, text in SUBJECTS.items()
]


async def test_ideas_on_one_subject_stand_together_under_the_name_of_one_of_them() -> None:
    found = await find_groups(IDEAS, WordEmbedder())
    assert set(found) == {idea.idea_id for idea in IDEAS}
    for name in SUBJECTS:
        (group,) = {found[idea.idea_id] for idea in IDEAS if idea.idea_id.startswith(name)}
        assert group.startswith(f"like {name}")
    assert len(set(found.values())) == 3


async def test_the_order_of_ideas_changes_nothing() -> None:
    assert await find_groups(IDEAS[::-1], WordEmbedder()) == await find_groups(
        IDEAS, WordEmbedder()
    )


async def test_an_idea_like_no_other_is_a_group_of_one() -> None:
    found = await find_groups(
        [*IDEAS, dossier("odd", None, text="Medieval tax law.")], WordEmbedder()
    )
    assert found["odd"] == "like odd"


async def test_no_ideas_make_no_groups_and_one_idea_makes_one() -> None:
    assert await find_groups([], WordEmbedder()) == {}
    assert await find_groups(IDEAS[:1], WordEmbedder()) == {"bee0": "like bee0"}


def test_a_large_batch_is_cut_into_parts_of_neighbours_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(groups, "IDEAS_PER_PART", 60)
    generator = np.random.default_rng(0)
    vectors = np.repeat(generator.normal(size=(30, 64)), 10, axis=0) + 0.2 * generator.normal(
        size=(300, 64)
    )
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    labels = groups._labels(vectors)
    assert np.array_equal(labels, groups._labels(vectors))
    together = [len(set(labels[start : start + 10].tolist())) == 1 for start in range(0, 300, 10)]
    assert np.mean(together) > 0.8
