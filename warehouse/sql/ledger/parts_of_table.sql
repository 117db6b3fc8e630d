select
  '{table}' as part,
  {unit}::varchar as unit_id,
  step, step_version, prompt_sha256,
  string_agg(distinct engine, ', ' order by engine) as participant_id,
  string_agg(distinct model_answered, ', ' order by model_answered) as model,
  max(created_at) as happened_at,
  sha256(string_agg(row_sha256, '' order by row_sha256)) as version_sha256
from (select *, sha256({content}) as row_sha256 from "{table}" where {condition}) as held
group by unit_id, step, step_version, prompt_sha256
