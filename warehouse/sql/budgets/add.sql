-- Add what a call used. What is taken back may leave less than nothing by a rounding error.
insert into spent values (?1, ?2, ?3, ?4, ?5)
on conflict (run_id, idea_id) do update
set
    cost_usd = case
        when spent.cost_usd + excluded.cost_usd > 0.0 then spent.cost_usd + excluded.cost_usd
        else 0.0
    end,
    tokens = spent.tokens + excluded.tokens,
    requests = spent.requests + excluded.requests
