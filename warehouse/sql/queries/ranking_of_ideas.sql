-- Places of some ideas of a run ($idea_ids NULL: all) by group and rank, those without a score last. group_size: ideas of the group.
select idea_id, rank, group_size
from (select *, count(*) over (partition by "group") as group_size from group_rankings where run_id = $run_id)
where $idea_ids is null or list_contains($idea_ids::varchar[], idea_id)
order by "group" nulls last, rank nulls last, strength desc nulls last, best_rank nulls last, idea_id
