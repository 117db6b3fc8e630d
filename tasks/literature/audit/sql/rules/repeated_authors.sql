-- defect: wrong
-- The list of authors names one more than once.
select
  number, 'authors' as field, 'set' as action, to_json(authors)::varchar as old,
  to_json(list_transform(
    list_filter(list_zip(authors, range(1, len(authors) + 1)), lambda each: list_position(authors, each[1]) = each[2]),
    lambda each: each[1]
  ))::varchar as new,
  format('{} names, {} of them different', len(authors), len(list_distinct(authors))) as evidence,
  case when len(authors) = 2 * len(list_distinct(authors)) then 0.97 else 0.8 end as confidence
from papers
where len(authors) > len(list_distinct(authors))
