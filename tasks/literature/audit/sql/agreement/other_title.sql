-- defect: wrong
-- Another source calls the paper otherwise. Its title is surer where it fits the abstract better.
select
  p.number, 'title' as field, 'set' as action, to_json(p.title)::varchar as old, to_json(o.title)::varchar as new,
  format('{} calls it so; {:.0f} % of the words of that title and {:.0f} % of this one stand in the abstract', o.source,
    100 * fit(o.title_stems, p.abstract_stems), 100 * fit(p.title_stems, p.abstract_stems)) as evidence,
  case
    when fit(o.title_stems, p.abstract_stems) - fit(p.title_stems, p.abstract_stems) >= 0.3 then 0.9
    when alike(o.title_stems, p.title_stems) >= 0.5 then 0.2
    else 0.5
  end as confidence
from others o
join papers p using (number)
where o.plain_title <> p.plain_title and len(o.title_stems) >= 2
  and fit(p.title_stems, p.abstract_stems) - fit(o.title_stems, p.abstract_stems) < 0.3
