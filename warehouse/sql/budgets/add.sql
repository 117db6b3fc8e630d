-- Add the usage of a call. Corrections may leave slightly negative sums by rounding.
insert into spent values (?1, ?2, ?3, ?4, ?5)
on conflict (run_id, idea_id) do update
set
    cost_usd = case
        when spent.cost_usd + excluded.cost_usd > 0.0 then spent.cost_usd + excluded.cost_usd
        else 0.0
    end,
    tokens = spent.tokens + excluded.tokens,
    requests = spent.requests + excluded.requests
