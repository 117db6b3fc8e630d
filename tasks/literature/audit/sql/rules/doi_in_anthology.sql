-- defect: missing
-- The ACL Anthology registers DOIs by the identifiers of its pages; where the snapshot shows that it did for a series, the
-- record's DOI follows from its page.
with paged as (
  select
    number, doi, '10.18653/v1/' || lower(regexp_extract(url, 'aclanthology\.org/(?:anthology/)?([A-Za-z0-9.-]+[0-9])', 1)) as expected
  from papers
  where url like '%aclanthology.org/%'
),
shown as (
  select series(expected) as series, avg((doi = expected)::int) as share, count(*) as number_of_papers
  from paged
  where doi is not null
  group by 1
)
select
  number, 'doi' as field, 'set' as action, null as old, to_json(expected)::varchar as new,
  format('{} of its series have the DOI that their page says', number_of_papers) as evidence, 0.95 * share as confidence
from paged
join shown on shown.series = series(expected)
where doi is null and share >= 0.9 and number_of_papers >= 3
