-- defect: missing
-- The abstract says that there is none, or is the title again.
select
  number, 'abstract' as field, 'set' as action, to_json(abstract)::varchar as old, null as new,
  case when plain_abstract = plain_title then 'it is the title again' else 'it stands for an abstract that is not there' end
    as evidence,
  0.95 as confidence
from papers
where plain_abstract = plain_title
  or plain_abstract in (
    'abstract', 'n a', 'na', 'none', 'null', 'nan', 'no abstract', 'no abstract available', 'not available',
    'abstract not available', 'abstract unavailable', 'missing abstract', 'tba', 'tbd', 'todo'
  )
