-- The last ledger row about each current part of a work.
select artefact, unit_id, part, step, step_version, prompt_sha256, version_sha256
from (
  select * from ledger
  where {condition} and action in ('given', 'made', 'made_anew', 'withdrawn')
  qualify row_number() over (
    partition by artefact, unit_id, part, step, step_version, prompt_sha256 order by sequence desc
  ) = 1
) as last
where version_sha256 is not null
