select citingcorpusid as corpusid, citedcorpusid, citationid, citingcorpusid % {buckets} as bucket
from read_json({source}, format = 'newline_delimited', maximum_object_size = 67108864, columns = {{
  citationid: 'BIGINT', citingcorpusid: 'BIGINT', citedcorpusid: 'BIGINT'
}})
where citingcorpusid is not null and citedcorpusid is not null
