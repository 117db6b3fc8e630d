-- Surveys of one question by several runs, and answers to it, that have a text.
select question as "group", run_id, question_id as item_id
from surveys
where unscored_reason is null
    and (run_id, question_id) in (
        select run_id, question_id from survey_sections where text <> ''
        union all
        select run_id, question_id from survey_quotes where aspect is not null
    )
qualify count(*) over (partition by question) > 1
order by all
