"""Names of ideas in charts and controls: short, one line, and told apart where two read alike."""

import polars

NAME_CHARACTERS = 76


def named() -> polars.Expr:
    """`3.

    Title`, of a frame with rank, title and idea_id; the identifier follows where two rows would
    bear one name.
    """
    title = polars.col("title").str.replace_all(r"\s+", " ").str.strip_chars()
    short = (
        polars.when(title.str.len_chars() > NAME_CHARACTERS)
        .then(title.str.slice(0, NAME_CHARACTERS - 1) + "…")
        .otherwise(title)
    )
    known = polars.when(title == "").then(polars.col("idea_id")).otherwise(short)
    name = polars.concat_str(
        polars.col("rank").cast(polars.String).fill_null("–"), polars.lit(". "), known
    )
    return (
        polars.when(name.is_duplicated())
        .then(polars.concat_str(name, polars.lit(" · "), "idea_id"))
        .otherwise(name)
    )
