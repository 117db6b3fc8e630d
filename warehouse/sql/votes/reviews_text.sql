-- What a voter sees of a review: what it says, without scores and without who made it.
with parts as (
    select 1 as part, position, 'Summary' as heading, summary as text
    from (select 0 as position, * from meta_reviews)
    where run_id = $run_id and idea_id = $item_id
    union all
    select 2, position, 'Soundness: ' || field, said
    from (
        select run_id, idea_id, position, unnest(['support', 'contradictions', 'suggestions']) as field,
            unnest([support, contradictions, suggestions]) as said
        from soundness_reviews
    )
    where run_id = $run_id and idea_id = $item_id
    union all
    select 3, position, dimension || ': ' || field, said
    from (
        select run_id, idea_id, position, dimension,
            unnest(['strengths', 'weaknesses', 'suggestions']) as field,
            unnest([strengths, weaknesses, suggestions]) as said
        from contribution_reviews
    )
    where run_id = $run_id and idea_id = $item_id
)
select heading, text from parts where length(trim(text)) > 0 order by part, position, heading
