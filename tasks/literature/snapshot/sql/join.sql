with edges as (
  select
    corpusid,
    list({{'id': citationid, 'cited': citedcorpusid, 'contexts': contexts, 'influential': influential}}
      order by citationid, citedcorpusid) as listed
  from (
    select corpusid, citationid, citedcorpusid, any_value(contexts) as contexts, any_value(influential) as influential
    from {citations} group by all
  )
  group by corpusid
)
select
  coalesce(ids.sha, nullif(regexp_extract(papers.url, '[0-9a-f]{{40}}'), ''), 'corpusid:' || papers.corpusid) as paper_id,
  papers.corpusid as corpus_id, papers.title, abstracts.abstract, papers.authors, papers.venue, papers.venue_id,
  papers.fields_of_study, papers.year, papers.url,
  abstracts.open_url as pdf_url, papers.doi, papers.arxiv as arxiv_id, papers.citationcount as citation_count,
  papers.publicationdate as publication_date, tldrs.text as tldr,
  coalesce(
    ['CorpusId:' || edge.cited for edge in edges.listed], case when {has_citations} and papers.referencecount = 0 then [] end
  ) as "references",
  case when not list_contains([edge.id is null for edge in edges.listed], true) then [edge.id for edge in edges.listed] end as reference_ids,
  [edge.contexts for edge in edges.listed] as reference_contexts,
  [edge.influential for edge in edges.listed] as reference_influential
from {papers} as papers
left join {abstracts} as abstracts on abstracts.corpusid = papers.corpusid
left join {tldrs} as tldrs on tldrs.corpusid = papers.corpusid
left join {paper_ids} as ids on ids.corpusid = papers.corpusid
left join edges on edges.corpusid = papers.corpusid
order by papers.corpusid
