-- defect: missing
-- A field is empty that most records of the snapshot fill.
with filled as (
  select
    unnest(['abstract', 'authors', 'venue', 'year', 'doi']) as field,
    unnest([
      avg((abstract is not null)::int), avg((len(authors) > 0)::int), avg((venue is not null)::int),
      avg((year is not null)::int), avg((doi is not null)::int)
    ]) as share
  from papers
),
holes as (
  select number, 'abstract' as field from papers where abstract is null
  union all select number, 'authors' from papers where len(authors) = 0
  union all select number, 'venue' from papers where venue is null
  union all select number, 'year' from papers where year is null
  union all select number, 'doi' from papers where doi is null
)
select
  number, field, 'none' as action, null as old, null as new,
  format('{:.1f} % of the records have it', 100 * share) as evidence, share as confidence
from holes
join filled using (field)
where share >= 0.5
