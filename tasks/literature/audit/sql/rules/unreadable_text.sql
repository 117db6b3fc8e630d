-- defect: wrong
-- Signs that stand where letters were lost.
with texts as (
  select number, unnest(['title', 'abstract', 'venue', 'authors']) as field,
    unnest([title, abstract, venue, array_to_string(authors, '; ')]) as text,
    unnest([to_json(title), to_json(abstract), to_json(venue), to_json(authors)])::varchar as old
  from papers
)
select
  number, field, 'none' as action, old, null as new, 'letters were lost: ' || chr(65533) as evidence, 0.95 as confidence
from texts
where contains(text, chr(65533))
