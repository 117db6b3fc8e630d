select
  corpusid, externalids.DOI as doi, externalids.ArXiv as arxiv, url, title, [author.name for author in authors] as authors,
  venue, year, referencecount, citationcount, publicationdate, corpusid % {buckets} as bucket
from read_json({source}, format = 'newline_delimited', maximum_object_size = 67108864, columns = {{
  corpusid: 'BIGINT', externalids: 'STRUCT(DOI VARCHAR, ArXiv VARCHAR)', url: 'VARCHAR', title: 'VARCHAR',
  authors: 'STRUCT(name VARCHAR)[]', venue: 'VARCHAR', year: 'INTEGER', referencecount: 'INTEGER', citationcount: 'INTEGER',
  publicationdate: 'VARCHAR'
}})
where corpusid is not null
