-- Text of a survey or an answer for voters; without one, the passages read for it.
with sections as (
    select heading, text, position
    from survey_sections
    where run_id = $run_id and question_id = $item_id and length(trim(text)) > 0
), passages as (
    select q.paper_id, p.title, p.year, p.url, min(q.position) as position,
        string_agg('“' || q.quote || '”', ' ' order by q.position) as quotes
    from survey_quotes as q
    join survey_papers as p using (run_id, question_id, paper_id)
    where q.run_id = $run_id and q.question_id = $item_id and q.aspect is not null
    group by all
)
select heading, text from (
    select heading, text, position from sections
    union all
    select concat(title, ' (' || year || ')'), concat(quotes, ' [source](' || url || ')'), position
    from passages
    where not exists (select * from sections)
)
order by position
