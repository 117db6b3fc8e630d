-- defect: duplicate
-- Two records of one paper. Candidates share a title, its part before the colon, the beginning of the abstract, the DOI, or all
-- authors within a year; groups of more than fifty are no candidates. The fuller record is kept.
with blocks as (
  select number, 't' || plain_title as block from papers where len(title_stems) >= 2
  union select number, 't' || trim(regexp_replace(lower(strip_accents(split_part(title, ':', 1))), '[^\p{L}\p{N}]+', ' ', 'g'))
    from papers where contains(title, ':')
  union select number, 'b' || left(plain_abstract, 150) from papers where length(plain_abstract) >= 150
  union select number, 'd' || doi from papers where doi is not null
  union select number, 'a' || array_to_string(list_sort(surnames), ' ') || unnest([year, year + 1])
    from papers where len(surnames) > 0 and year is not null
),
small as (select block from blocks group by block having count(*) between 2 and 50),
pairs as (
  select distinct one.number as one, other.number as other
  from blocks one
  join small using (block)
  join blocks other using (block)
  where one.number < other.number
),
compared as (
  select
    one.number as one, other.number as other,
    one.paper_id as one_id, other.paper_id as other_id,
    one.plain_title = other.plain_title as same_title,
    alike(one.title_stems, other.title_stems) as titles,
    shared(one.title_stems, other.title_stems) / greatest(least(len(one.title_stems), len(other.title_stems)), 1) as within,
    case when len(one.abstract_stems) >= 10 and len(other.abstract_stems) >= 10
      then alike(one.abstract_stems, other.abstract_stems) end as abstracts,
    shared(one.surnames, other.surnames) / greatest(least(len(one.surnames), len(other.surnames)), 1) as authors,
    len(one.surnames) = 0 or len(other.surnames) = 0 as anonymous,
    regexp_extract_all(one.plain_title, '\b(?:[0-9]+|[ivx]+)\b') = regexp_extract_all(other.plain_title, '\b(?:[0-9]+|[ivx]+)\b')
      as same_part,
    one.doi = other.doi as same_doi, coalesce(one.doi <> other.doi, false) as two_dois,
    least(len(one.title_stems), len(other.title_stems)) as words,
    (one.abstract is not null)::int + (one.doi is not null)::int + (one.venue is not null)::int
      + (one.year is not null)::int + (len(one.surnames) > 0)::int + coalesce(ln(1 + one.citation_count), 0) / 100
      >= (other.abstract is not null)::int + (other.doi is not null)::int + (other.venue is not null)::int
      + (other.year is not null)::int + (len(other.surnames) > 0)::int + coalesce(ln(1 + other.citation_count), 0) / 100
      as keep_one
  from pairs
  join papers one on one.number = pairs.one
  join papers other on other.number = pairs.other
),
judged as (
  select
    *,
    case
      when same_doi and titles >= 0.5 then 0.98
      when abstracts >= 0.85 and (authors >= 0.5 or anonymous) and (within >= 0.5 or same_title) then 0.97
      when same_title and (authors >= 0.5 or anonymous) and coalesce(abstracts, 1) >= 0.5 then 0.92
      when same_title and authors >= 0.5 then 0.6
      when within >= 0.8 and words >= 3 and authors >= 0.5 and abstracts >= 0.5 and same_part then 0.85
      when within >= 0.9 and words >= 4 and authors >= 0.5 and abstracts is null and same_part then 0.7
      when abstracts >= 0.9 and (authors >= 0.5 or anonymous) then 0.7
    end * case when two_dois then 0.6 else 1 end as confidence
  from compared
)
select
  case when keep_one then other else one end as number, 'record' as field, 'merge' as action,
  to_json(case when keep_one then other_id else one_id end)::varchar as old,
  to_json(case when keep_one then one_id else other_id end)::varchar as new,
  format('titles share {:.0f} % of their words, abstracts {}, authors {:.0f} %{}', 100 * titles,
    case when abstracts is null then 'cannot be compared' else format('{:.0f} %', 100 * abstracts) end, 100 * authors,
    case when two_dois then '; each has a DOI of its own' else '' end) as evidence,
  confidence
from judged
where confidence is not null
qualify row_number() over (partition by case when keep_one then other else one end order by confidence desc, one, other) = 1
