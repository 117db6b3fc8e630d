-- One proposal for what several rules say alike; of rules that contradict each other, the surer one leads, and a finding without
-- remedy gives way to a remedy.
with agreed as (
  select
    arg_max(rule, confidence) as rule, arg_max(defect, confidence) as defect, number, field, action, old, new,
    string_agg(distinct evidence, '; ' order by evidence) as evidence,
    1 - product(1 - least(confidence, 0.999)) as confidence
  from found
  group by number, field, action, old, new
),
weighed as (
  select
    *, max(action <> 'none') over record as has_remedy,
    count(*) filter (where action = 'set') over record > 1
      and confidence < max(confidence) filter (where action = 'set') over record as contradicted
  from agreed
  window record as (partition by number, field)
)
select
  substr(sha256(concat_ws(chr(31), w.rule, p.paper_id, w.field, w.action, coalesce(w.old, ''), coalesce(w.new, ''))), 1, 12)
    as proposal_id,
  w.rule, case when w.action = 'set' and coalesce(w.old, '[]') = '[]' then 'missing' else w.defect end as defect, p.paper_id, p.title, w.field, w.action, w.old, w.new, w.evidence,
  round(case when w.contradicted then w.confidence / 2 else w.confidence end, 3) as confidence_0_to_1
from weighed w
join papers p on p.number = w.number
where w.action <> 'none' or not w.has_remedy
