"""Agreement of two orders of ideas, and rank changes between them."""

from dataclasses import dataclass

import polars

Frame = polars.DataFrame
TOP = 10


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two leaderboards.

    Attributes:
        shared: ideas ranked by both.
        only_first, only_second: ideas ranked by one of them only.
        spearman: rank correlation, averaged over groups and weighted by their size; None if no
            group
            has three ideas with different ranks.
        top: ideas among the best `TOP` of their group in both, summed over groups, out of
            `top_size`.
    """

    shared: int
    only_first: int
    only_second: int
    spearman: float | None
    top: int
    top_size: int


def side_by_side(first: Frame, second: Frame) -> Frame:
    """Join the ideas ranked by both, with their ranks among these.

    Columns: idea_id, title, group, first_rank, second_rank, change (positive: better in the
    second).
    """
    columns = ["idea_id", "rank"]
    first_ranks = first.filter(polars.col("rank").is_not_null()).select(
        *columns, "title", polars.col("group").fill_null("")
    )
    second_ranks = second.filter(polars.col("rank").is_not_null()).select(columns)
    pairs = first_ranks.join(second_ranks, on="idea_id", suffix="_in_second")
    rank_columns = {"first_rank": "rank", "second_rank": "rank_in_second"}
    return (
        pairs.with_columns(
            polars.col(column).rank("min").over("group").cast(polars.Int64).alias(name)
            for name, column in rank_columns.items()
        )
        .with_columns((polars.col("first_rank") - polars.col("second_rank")).alias("change"))
        .select("idea_id", "title", "group", "first_rank", "second_rank", "change")
        .sort(polars.col("change").abs(), "idea_id", descending=[True, False])
    )


def agreement(first: Frame, second: Frame) -> Agreement:
    pairs = side_by_side(first, second)
    ranked_counts = [int(frame["rank"].is_not_null().sum()) for frame in (first, second)]
    by_group = pairs.group_by("group").agg(
        polars.len().alias("size"),
        polars.corr("first_rank", "second_rank", method="spearman").alias("spearman"),
        ((polars.col("first_rank") <= TOP) & (polars.col("second_rank") <= TOP)).sum().alias("top"),
        (polars.col("first_rank") <= TOP).sum().alias("top_size"),
    )
    usable = by_group.filter((polars.col("size") >= 3) & polars.col("spearman").is_not_nan())
    weight = float(usable["size"].sum())
    return Agreement(
        shared=len(pairs),
        only_first=ranked_counts[0] - len(pairs),
        only_second=ranked_counts[1] - len(pairs),
        spearman=float((usable["size"] * usable["spearman"]).sum()) / weight if weight else None,
        top=int(by_group["top"].sum()),
        top_size=int(by_group["top_size"].sum()),
    )
