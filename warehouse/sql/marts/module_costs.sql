-- What each module of a run cost, and an idea of it: cost_usd sums the calls with a known price; unknown_price_calls are missing from it.
-- ideas: those it made a call for. <what>_per_idea divides by all ideas of the run, as run_costs does, so that the modules of a run add up to
-- its cost_usd_per_idea; NULL: no run of ideas. thinking_tokens are part of completion_tokens and sum the calls that tell; NULL: none does.
with modules (step, module) as (
  values
  ('extract_methods', 'soundness'),
  ('plan_review', 'soundness'),
  ('plan_questions', 'soundness'),
  ('officer_review', 'soundness'),
  ('concern_evidence', 'soundness'),
  ('soundness_query', 'soundness'),
  ('method_evidence', 'soundness'),
  ('soundness_review', 'soundness'),
  ('soundness_summary', 'soundness'),
  ('extract_dimensions', 'contribution'),
  ('contribution_queries', 'contribution'),
  ('relevance', 'contribution'),
  ('compare_paper', 'contribution'),
  ('contribution_review', 'contribution'),
  ('structure_idea', 'committee'),
  ('knowledge_queries', 'committee'),
  ('judge_credibility', 'committee'),
  ('summarise_pages', 'committee'),
  ('refine_queries', 'committee'),
  ('ground_evidence', 'committee'),
  ('persona_review', 'committee'),
  ('meta_review', 'committee'),
  ('later_suggestions', 'committee'),
  ('novelty_queries', 'novelty'),
  ('judge_novelty', 'novelty'),
  ('weigh_concerns', 'assessment'),
  ('challenge_concerns', 'assessment'),
  ('assess_plan', 'assessment'),
  ('verify_citations', 'verification'),
  ('extract_resources', 'resources'),
  ('compare_ideas', 'ranking')
)
select
  c.run_id,
  coalesce(m.module, 'other') as module,
  count(distinct c.idea_id) as ideas,
  count(*) as llm_calls,
  count(*) filter (where c.cache_hit) as llm_cache_hits,
  sum(c.prompt_tokens)::bigint as prompt_tokens,
  sum(c.completion_tokens)::bigint as completion_tokens,
  sum(c.thinking_tokens)::bigint as thinking_tokens,
  count(*) filter (where c.thinking_tokens is null and c.completion_tokens > 0) as unknown_thinking_calls,
  sum(c.cost_usd) as cost_usd,
  count(*) filter (where c.cost_usd is null and not c.cache_hit) as unknown_price_calls,
  count(*) / nullif(any_value(r.ideas), 0) as llm_calls_per_idea,
  sum(c.prompt_tokens) / nullif(any_value(r.ideas), 0) as prompt_tokens_per_idea,
  sum(c.completion_tokens) / nullif(any_value(r.ideas), 0) as completion_tokens_per_idea,
  sum(c.thinking_tokens) / nullif(any_value(r.ideas), 0) as thinking_tokens_per_idea,
  sum(c.cost_usd) / nullif(any_value(r.ideas), 0) as cost_usd_per_idea
from llm_calls as c
left join modules as m on m.step = c.step
left join run_costs as r on r.run_id = c.run_id
group by c.run_id, coalesce(m.module, 'other')
