-- severity: critical
-- A number has a value, and a statement about a work names a work of the draft.
select c.run_id, c.draft_id, c.claim_key
from draft_claims as c
where (c.kind = 'number') <> (c.value is not null)
  or (c.kind = 'quote' and len(c.cited_keys) = 0)
  or exists (
    select 1
    from (select unnest(c.cited_keys) as cite_key) as k
    where k.cite_key not in (
      select w.cite_key
      from draft_works as w
      where w.run_id = c.run_id and w.draft_id = c.draft_id
    )
  )
