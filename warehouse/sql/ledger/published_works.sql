-- Published works with the digest of their last ledger entry.
select
  work.*,
  (
    select max_by(version_sha256, sequence) from ledger
    where artefact = 'publication' and action = 'published' and {condition}
  ) as recorded_sha256
from "{table}" as work
