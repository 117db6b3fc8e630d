-- defect: wrong
-- A paper stands in its own reference list.
select
  citing as number, 'reference' as field, 'remove_reference' as action, position::varchar as old, null as new,
  'the entry leads to the paper itself' as evidence, 0.99 as confidence
from entries
where cited = citing
