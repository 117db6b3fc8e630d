-- Ledger rows about records of people and programs, in order.
select
  sequence, artefact, action, version_sha256, inputs,
  run_id, unit_id, part, participant_id, happened_at
from ledger
where action in ('requested', 'approved', 'rejected', 'chosen', 'sent_back', 'commented', 'voted', 'edited')
order by sequence
