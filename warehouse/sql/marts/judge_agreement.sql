-- How far the judges of a step agree, by run and step: only steps that several models were asked. An item is what one score is about.
-- What compares scores is taken over compared items, those that two judges or more have scored; NULL where there is none.
-- krippendorff_alpha: interval metric, 1 is perfect and 0 chance; NULL with fewer than two compared items or when all their scores are equal.
with placed as (
  select
    *,
    (idea_id, question, item) as asked,
    count(score) over (partition by run_id, step, idea_id, question, item) as scores,
    min(score) over (partition by run_id, step, idea_id, question, item) as lowest,
    max(score) over (partition by run_id, step, idea_id, question, item) as highest,
    var_samp(score) over (partition by run_id, step, idea_id, question, item) as variance,
    row_number() over (partition by run_id, step, idea_id, question, item order by score nulls last) as place
  from judge_votes
),
compared as (
  select
    run_id,
    step,
    count(distinct asked) as items,
    count(distinct asked) filter (where lowest = highest) as same_score_items,
    -- The k-th of n scores in order stands above k - 1 others and below n - k.
    sum((2 * place - scores - 1) * score) / (sum(scores - 1) / 2) as mean_absolute_difference,
    -- Every score counts the variance of its item once: the mean over scores weighs items by their scores, as D_o does.
    case when count(distinct asked) > 1 and min(score) < max(score) then 1 - avg(variance) / var_samp(score) end as krippendorff_alpha
  from placed
  where score is not null and scores >= 2
  group by run_id, step
)
select
  v.run_id,
  v.step,
  count(distinct (v.idea_id, v.question)) as questions,
  count(distinct v.asked) filter (where v.score is not null) as items,
  count(distinct v.judge) as judges,
  count(*) as votes,
  count(v.score) as scored_votes,
  count(*) - count(v.score) as unscored_votes,
  coalesce(any_value(c.items), 0) as compared_items,
  any_value(c.same_score_items) / nullif(any_value(c.items), 0) as same_score_share,
  any_value(c.mean_absolute_difference) as mean_absolute_difference,
  any_value(c.krippendorff_alpha) as krippendorff_alpha
from placed as v
left join compared as c on c.run_id = v.run_id and c.step = v.step
group by v.run_id, v.step
