-- The attempts of check runs as a release lists them.
select
  c.engine as model, c.form as approach, a.manuscript_id as entry_id, a.attempt as attempt_id,
  a.problem_count, a.input_tokens, a.thinking_tokens, a.output_tokens
from lake.attempts as a
inner join lake.check_runs as c on c.run_id = a.run_id
where a.run_id in ($run_ids)
