-- Text of a check for voters: the problems of its first attempt that were kept.
select problem as heading, concat_ws(' ', 'Where: ' || location || '.', explanation) as text
from problems
where
  run_id = $run_id
  and manuscript_id = $item_id
  and attempt = 1
  and refuted is distinct from true
  and open_question is distinct from true
order by rank
