-- defect: wrong
-- No word of the title stands in a long abstract.
select
  number, 'title' as field, 'none' as action, to_json(title)::varchar as old, null as new,
  format('none of the {} words of the title stands in the abstract', len(title_stems)) as evidence,
  least(0.9, 0.2 + 0.1 * len(title_stems)) as confidence
from papers
where len(title_stems) >= 4 and len(abstract_stems) >= 40 and fit(title_stems, abstract_stems) = 0
