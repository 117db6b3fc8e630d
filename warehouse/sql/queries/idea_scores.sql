-- Scores of all ideas of a run.
select * from idea_scores where run_id = $run_id order by idea_id
