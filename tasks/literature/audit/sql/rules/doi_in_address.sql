-- defect: missing
-- The address of the page contains the DOI that the record lacks.
with named as (
  select number, url, lower(regexp_extract(url, '10\.[0-9]{4,9}/[^\s?#&]+')) as doi
  from papers
  where doi is null
)
select
  number, 'doi' as field, 'set' as action, null as old, to_json(doi)::varchar as new,
  'its address contains it: ' || url as evidence, 0.95 as confidence
from named
where doi <> '' and not exists (from papers where papers.doi = named.doi)
