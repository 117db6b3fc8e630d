-- Some ideas of a run ($idea_ids NULL: all) by group and rank, those without a score last.
select *
from group_rankings
where run_id = $run_id and ($idea_ids is null or list_contains($idea_ids::varchar[], idea_id))
order by "group" nulls last, rank nulls last, strength desc nulls last, idea_id
