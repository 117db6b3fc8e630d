-- Reviews of one idea by several runs; an evaluation that runs share counts once.
with reviewed as (
    select idea_id, sha256(text) as content, evaluation_key, min(run_id) as run_id
    from ideas
    group by all
)
select idea_id as "group", run_id, idea_id as item_id
from reviewed
qualify count(*) over (partition by idea_id, content) > 1
order by all
