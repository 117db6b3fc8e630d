-- What is published, and as what the ledger last said that it was.
select
  work.*,
  (
    select max_by(version_sha256, sequence) from ledger
    where artefact = 'publication' and action = 'published' and {condition}
  ) as recorded_sha256,
  exists (select 1 from ledger where {condition})
    or coalesce(work.published_at >= (select min(recorded_at) from ledger), false) as began_before
from "{table}" as work
