-- What ideas of a run were judged by of one paper: its passages that searches found, each once, and how many ideas each was found for.
select text, any_value(kind) as kind, any_value(section) as section, count(distinct idea_id) as ideas
from passages
where run_id = $run_id and paper_id = $paper_id
group by text
order by ideas desc, max(score) desc, text
limit $limit
