select
  citingcorpusid as corpusid, citedcorpusid, citationid,
  -- The source says false of every citation whose text it never had.
  case when isinfluential or contexts is not null then isinfluential end as influential,
  list_transform(contexts, lambda text, place: {{'text': text, 'intents': intents[place]}}) as contexts,
  citingcorpusid % {buckets} as bucket
from read_json({source}, format = 'newline_delimited', maximum_object_size = 67108864, columns = {{
  citationid: 'BIGINT', citingcorpusid: 'BIGINT', citedcorpusid: 'BIGINT', isinfluential: 'BOOLEAN',
  contexts: 'VARCHAR[]', intents: 'VARCHAR[][]'
}})
where citingcorpusid is not null and citedcorpusid is not null
