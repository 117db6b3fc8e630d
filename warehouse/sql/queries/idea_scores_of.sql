-- Scores of some ideas of a run ($idea_ids NULL: all).
select * from idea_scores where run_id = $run_id and ($idea_ids is null or list_contains($idea_ids::varchar[], idea_id))
