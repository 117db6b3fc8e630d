"""HTML pages over the lake.

The pages read the lake and never write it. What readers submit goes to the job runner.

application.py  the pages as an ASGI application, served by `flows.api.server` next to the API;
                access checks: same site only, signed-in readers only
site.py         `PAGES`, and the layout around each page
site_pages/     one file per page; fields.py: the choices a reader makes there
forms.py        form parsing; changes.py: change events for open pages
board.py        orders of ideas under any weights
data.py         `Lake`: cached, read-only answers of the warehouse
access.py       readers and their permissions: accounts, a provider, or one password
sign_in.py      the sign-in form, with delays after wrong passwords; provider.py: OpenID Connect

How to write a page
    1. Write a function in `site_pages/<name>.py` that takes a `Visit` and returns a `PageContent`:
       a title, blocks of `dashboards.render.page` and, above them, a form made by `fields.form`.
       Add one line to `site.PAGES`, with the permissions that the page needs.
    2. Read through `visit.lake`: `lake.ask(Queries.ranking, run_id)`, or `lake.frame("sources", …)`
       for a statement of `sql/pages`. Readers share the answers: never change them in place.
    3. Keep a reader's choices in the URL. A form that writes is another line of `PAGES` with
       `method="POST"`.
    4. Show the unscored count next to every mean. Leave out sections without rows.
    5. The function may raise errors of `schemas.errors`; the layout shows their message.
    6. Tests: `tests/support/site.py` opens a page without a browser.
"""
