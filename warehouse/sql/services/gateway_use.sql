-- Requests of a gateway since a moment, by host.
select host, max(allowed_per_second), count(*), coalesce(sum(reason = 'rate_limited'), 0)
from requests where sent_at >= ?1 group by host order by host
