select corpusid, abstract, openaccessinfo.url as open_url, corpusid % {buckets} as bucket
from read_json({source}, format = 'newline_delimited', maximum_object_size = 67108864, columns = {{
  corpusid: 'BIGINT', abstract: 'VARCHAR', openaccessinfo: 'STRUCT(url VARCHAR)'
}})
where corpusid is not null
