-- Ideas of a run whose title or identifier holds a text, best ranked first.
select idea_id, title, "group", rank, score
from group_rankings
where run_id = $run_id and ($text = '' or contains(lower(title), lower($text)) or contains(lower(idea_id), lower($text)))
order by rank nulls last, score desc nulls last, idea_id
limit $limit
