-- defect: wrong
-- UTF-8 that was read as Windows-1252.
with texts as (
  select number, unnest(['title', 'abstract', 'venue']) as field, unnest([title, abstract, venue]) as text from papers
),
mended as (
  select number, field, to_json(text)::varchar as old, to_json(mended(text))::varchar as new
  from texts
  where regexp_matches(text, '[À-ô][^ -~]') and mended(text) is not null
  union all
  select
    number, 'authors', to_json(authors)::varchar,
    to_json(list_transform(authors, lambda each: coalesce(mended(each), each)))::varchar
  from papers
  where len(list_filter(authors, lambda each: regexp_matches(each, '[À-ô][^ -~]') and mended(each) is not null)) > 0
)
select
  number, field, 'set' as action, old, new, 'letters of UTF-8 that were read as Windows-1252' as evidence, 0.97 as confidence
from mended
