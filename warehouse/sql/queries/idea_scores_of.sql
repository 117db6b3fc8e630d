-- Scores of some ideas of a run ($idea_ids NULL: all). The range repeats what the list says, since only ranges reach the tables below.
select *
from idea_scores
where
  run_id = $run_id
  and (
    $idea_ids is null
    or (
      idea_id between list_min($idea_ids::varchar[]) and list_max($idea_ids::varchar[])
      and list_contains($idea_ids::varchar[], idea_id)
    )
  )
