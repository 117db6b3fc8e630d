select corpusid, sha, corpusid % {buckets} as bucket
from read_json({source}, format = 'newline_delimited', columns = {{corpusid: 'BIGINT', sha: 'VARCHAR', "primary": 'BOOLEAN'}})
where corpusid is not null and "primary"
