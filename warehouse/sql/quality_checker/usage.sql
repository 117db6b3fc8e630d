-- Problems and tokens per paper of each checker; each mean of tokens is over the checks that have the figure.
select
  model,
  approach,
  count(*) as paper_count,
  avg(problem_count) as mean_problems,
  quantile_cont(problem_count, 0.25) as first_quartile_problems,
  quantile_cont(problem_count, 0.75) as third_quartile_problems,
  avg((problem_count = 0)::integer) as nothing_found_share,
  avg(input_tokens) as mean_input_tokens,
  avg(thinking_tokens) as mean_thinking_tokens,
  avg(output_tokens) as mean_output_tokens,
  count(*) filter (where input_tokens is null or thinking_tokens is null or output_tokens is null) as without_tokens_count
from checks
group by model, approach
order by approach, model
