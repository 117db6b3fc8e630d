select corpusid, text, corpusid % {buckets} as bucket
from read_json({source}, format = 'newline_delimited', columns = {{corpusid: 'BIGINT', text: 'VARCHAR'}})
where corpusid is not null and text is not null
