-- Ideas of a run whose title or identifier holds a text, best ranked first. group_size: ideas of the group, found or not.
select idea_id, title, "group", rank, score, group_size
from (select *, count(*) over (partition by "group") as group_size from group_rankings where run_id = $run_id)
where $text = '' or contains(lower(title), lower($text)) or contains(lower(idea_id), lower($text))
order by rank nulls last, score desc nulls last, idea_id
limit $limit
