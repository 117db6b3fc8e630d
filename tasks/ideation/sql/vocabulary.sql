-- What enough papers name in title or keywords, under the words that most of them use for it.
create or replace table concepts as
select (row_number() over (order by key) - 1)::integer as concept_id, key, name
from (
  select key, arg_max(phrase, (written, phrase)) as name
  from (select key, phrase, count(*) as written from named group by all)
  group by key
  having sum(written) >= getvariable('least_papers')
)
