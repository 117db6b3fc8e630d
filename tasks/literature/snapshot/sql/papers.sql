select
  corpusid, externalids.DOI as doi, externalids.ArXiv as arxiv, url, title, authors,
  venue, publicationvenueid as venue_id, [field.category for field in s2fieldsofstudy] as fields_of_study, year, referencecount, citationcount, publicationdate, corpusid % {buckets} as bucket
from read_json({source}, format = 'newline_delimited', maximum_object_size = 67108864, columns = {{
  corpusid: 'BIGINT', externalids: 'STRUCT(DOI VARCHAR, ArXiv VARCHAR)', url: 'VARCHAR', title: 'VARCHAR',
  authors: 'STRUCT(authorId VARCHAR, name VARCHAR)[]', venue: 'VARCHAR', publicationvenueid: 'VARCHAR',
  s2fieldsofstudy: 'STRUCT(category VARCHAR)[]', year: 'INTEGER', referencecount: 'INTEGER', citationcount: 'INTEGER',
  publicationdate: 'VARCHAR'
}})
where corpusid is not null
