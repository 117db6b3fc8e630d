-- What the ledger says of rows that people and programs wrote, in order.
select
  sequence, artefact, action, version_sha256, inputs,
  run_id, unit_id, part, participant_id, happened_at
from ledger
where action in ('requested', 'approved', 'rejected', 'chosen', 'sent_back', 'commented', 'voted', 'edited')
order by sequence
