-- Proposals found anew; what a person has decided on one stays. One that was in effect and is found again waits again: the snapshot
-- has been built anew since.
insert into proposals
select *, 'proposed', null from read_parquet($found)
on conflict (proposal_id) do update set
  evidence = excluded.evidence, confidence_0_to_1 = excluded.confidence_0_to_1, title = excluded.title,
  state = case when proposals.state = 'accepted' then 'proposed' else proposals.state end,
  decided_by = case when proposals.state = 'accepted' then null else proposals.decided_by end
