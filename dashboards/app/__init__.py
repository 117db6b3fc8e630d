"""The dashboard over the lake: pages as HTML, and pages of Streamlit in the same process.

It reads the lake and never writes it; what readers submit goes to the job runner.

server.py      what listens: who is let in, what pages may load
site.py        PAGES as HTML, and the frame around each
site_pages/    one file per such page; choosing.py: what a reader chooses there
app.py         entry of Streamlit: settings, navigation
registry.py    PAGES, the one list of Streamlit's pages
screens/       one file per page of Streamlit, each with `show(lake: Lake) -> None`
ranking/       orders of ideas under any weights, and how far two of them agree
evaluating/    what pages ask of the job runner
data.py        Lake: cached, read-only answers of the warehouse
state.py       controls whose values live in the address, so that a link restores a page
tables.py      tables that sort, filter and page
empty.py       what a page says when it has nothing to show
links.py       links between pages
text.py        untrusted text as Markdown that is only text
access.py      who reads the pages and what they may do: accounts, a provider, or one password
sign_in.py     the form, and the way to a provider and back: routes beside the pages
attempts.py    wrong passwords, and how long who guesses waits

How to write a page
    1. A function of `site_pages/<name>.py` that takes a `Visit` and returns a `Shown`: a title,
       blocks of `dashboards.render.page` and, above them, a form of `choosing.form`. One line in
       `site.PAGES`, which says who may read it.
    2. `visit.lake` answers: `lake.ask(Queries.ranking, run_id)`, `lake.frame("sources", …)` for a
       statement of `sql/pages`. Answers are shared between readers: never change them.
    3. What a reader chooses stands in the address; what a form writes is another line of `PAGES`
       with `method="POST"`, whose function begins with `visit.check_may`.
    4. Every mean shows its unscored count beside it. What has no rows takes no room.
    5. Errors of `schemas.errors` may leave the function: the frame shows their one line.
    6. Tests: `tests/support/site.py` opens a page without a browser.
"""
