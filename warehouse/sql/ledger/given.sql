select unit_id, sha256(string_agg(content, '' order by content)) as version_sha256
from (select {unit}::varchar as unit_id, {content} as content from "{table}" where {condition}) as held
group by unit_id
order by unit_id
