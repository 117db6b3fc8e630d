-- What is published, and as what the ledger last said that it was.
select
  work.*,
  (
    select max_by(version_sha256, sequence) from ledger
    where artefact = 'publication' and action = 'published' and {condition}
  ) as recorded_sha256
from "{table}" as work
