"""The pages over the lake, as HTML.

It reads the lake and never writes it; what readers submit goes to the job runner.

application.py the pages as an ASGI application, which `flows.api.server` serves beside the API
guards.py      who gets an answer: no page of another site, nobody who has not signed in
site.py        PAGES, and the frame around each
site_pages/    one file per page; choosing.py: what a reader chooses there
forms.py       what forms send; changes.py: what tells an open page to be read again
ranking/       orders of ideas under any weights, and how far two of them agree
evaluating/    what pages ask of the job runner
data.py        Lake: cached, read-only answers of the warehouse
cells.py       cells for a spreadsheet, which computes nothing of them
access.py      who reads the pages and what they may do: accounts, a provider, or one password
sign_in.py     the form; provider.py: the way to a provider and back
attempts.py    wrong passwords, and how long who guesses waits

How to write a page
    1. A function of `site_pages/<name>.py` that takes a `Visit` and returns a `Shown`: a title,
       blocks of `dashboards.render.page` and, above them, a form of `choosing.form`. One line in
       `site.PAGES`, which says who may read it.
    2. `visit.lake` answers: `lake.ask(Queries.ranking, run_id)`, `lake.frame("sources", …)` for a
       statement of `sql/pages`. Answers are shared between readers: never change them.
    3. What a reader chooses stands in the address; what a form writes is another line of `PAGES`
       with `method="POST"`.
    4. Every mean shows its unscored count beside it. What has no rows takes no room.
    5. Errors of `schemas.errors` may leave the function: the frame shows their one line.
    6. Tests: `tests/support/site.py` opens a page without a browser.
"""
