with edges as (
  select
    corpusid,
    list('CorpusId:' || citedcorpusid order by citationid, citedcorpusid) as cited,
    case when count(citationid) = count(*) then list(citationid order by citationid, citedcorpusid) end as ids
  from (select distinct corpusid, citedcorpusid, citationid from {citations}) group by corpusid
)
select
  coalesce(ids.sha, nullif(regexp_extract(papers.url, '[0-9a-f]{{40}}'), ''), 'corpusid:' || papers.corpusid) as paper_id,
  papers.corpusid as corpus_id, papers.title, abstracts.abstract, papers.authors, papers.venue, papers.year, papers.url,
  abstracts.open_url as pdf_url, papers.doi, papers.arxiv as arxiv_id, papers.citationcount as citation_count,
  papers.publicationdate as publication_date, tldrs.text as tldr,
  coalesce(edges.cited, case when {has_citations} and papers.referencecount = 0 then [] end) as "references",
  edges.ids as reference_ids
from {papers} as papers
left join {abstracts} as abstracts on abstracts.corpusid = papers.corpusid
left join {tldrs} as tldrs on tldrs.corpusid = papers.corpusid
left join {paper_ids} as ids on ids.corpusid = papers.corpusid
left join edges on edges.corpusid = papers.corpusid
order by papers.corpusid
