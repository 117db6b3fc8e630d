-- The newest completed requests of a gateway.
select sent_at, status, reason from requests
where latency_seconds is not null order by sent_at desc limit ?1
