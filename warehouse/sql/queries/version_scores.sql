-- Scores of the versions that runs evaluated.
select idea_id, score from idea_scores where run_id in (select unnest($run_ids))
