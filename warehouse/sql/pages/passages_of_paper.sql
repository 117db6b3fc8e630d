-- Passages of one paper that the ideas of a run were judged by, each once, with the number of
-- ideas.
select text, any_value(kind) as kind, any_value(section) as section, count(distinct idea_id) as ideas
from passages
where run_id = $run_id and paper_id = $paper_id
group by text
order by ideas desc, max(score) desc, text
limit $limit
