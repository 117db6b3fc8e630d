-- defect: wrong
-- An entry of a reference list leads nowhere, in a snapshot where nearly all others lead to a paper. Where most papers cite
-- works outside of the snapshot, nothing is said.
with share as (select avg((cited is not null)::int) as resolved from entries)
select
  citing as number, 'reference' as field, 'remove_reference' as action, position::varchar as old, null as new,
  format('{:.1f} % of all entries lead to a paper of the snapshot, this one does not', 100 * resolved) as evidence,
  resolved as confidence
from entries, share
where cited is null and resolved >= 0.95
