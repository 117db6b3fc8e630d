-- Text of a review for voters, without scores and maker.
with parts as (
    select 1 as part, 0 as position, 1 as place, 'Summary' as heading, summary as text
    from meta_reviews
    where run_id = $run_id and idea_id = $item_id
    union all
    select 2, position, place, 'Soundness: ' || field, said
    from (
        select run_id, idea_id, position, generate_subscripts(['', '', ''], 1) as place,
            unnest(['support', 'contradictions', 'suggestions']) as field,
            unnest([support, contradictions, suggestions]) as said
        from soundness_reviews
    )
    where run_id = $run_id and idea_id = $item_id
    union all
    select 3, position, place, dimension || ': ' || field, said
    from (
        select run_id, idea_id, position, dimension, generate_subscripts(['', '', ''], 1) as place,
            unnest(['strengths', 'weaknesses', 'suggestions']) as field,
            unnest([strengths, weaknesses, suggestions]) as said
        from contribution_reviews
    )
    where run_id = $run_id and idea_id = $item_id
)
select heading, text from parts where length(trim(text)) > 0 order by part, position, place
