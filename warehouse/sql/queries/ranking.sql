-- Ideas of a run by group and rank, those without a score last, by the best rank their bounds allow.
select * from group_rankings where run_id = $run_id order by "group" nulls last, rank nulls last, strength desc nulls last, best_rank nulls last, idea_id
