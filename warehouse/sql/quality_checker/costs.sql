-- Dollars per paper of each checker at the prices given: mean tokens times price, as in Table 2. Thinking is paid as output.
-- Each mean is over the checks that have its figure (a check that thought and wrote nothing has no output tokens). NULL without a price.
with prices as (
  select
    unnest($models) as model,
    unnest($input_usd_per_million) as input_usd_per_million,
    unnest($output_usd_per_million) as output_usd_per_million
)
select
  model,
  approach,
  count(*) as paper_count,
  (avg(input_tokens) * any_value(input_usd_per_million)
    + (avg(thinking_tokens) + avg(output_tokens)) * any_value(output_usd_per_million)) / 1e6 as mean_cost_usd
from checks
left join prices using (model)
group by model, approach
order by approach, model
