-- defect: missing
-- Another source fills what the record lacks.
with offered as (
  select number, source, unnest(['abstract', 'venue', 'year', 'doi', 'authors']) as field,
    unnest([
      to_json(abstract), to_json(venue), to_json(year), to_json(doi), case when len(authors) > 0 then to_json(authors) end
    ])::varchar as new
  from others
),
holes as (
  select number, unnest(['abstract', 'venue', 'year', 'doi', 'authors']) as field,
    unnest([abstract is null, venue is null, year is null, doi is null, len(authors) = 0]) as empty,
    case when len(authors) = 0 then '[]' end as no_authors
  from papers
)
select
  number, field, 'set' as action, case when field = 'authors' then no_authors end as old, new, source || ' has it' as evidence,
  0.9 as confidence
from offered
join holes using (number, field)
where empty and new is not null and new <> 'null'
  and not (field = 'doi' and exists (from papers where to_json(papers.doi)::varchar = new))
