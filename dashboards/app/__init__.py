"""The dashboard over the lake: pages as HTML, and pages of Streamlit in the same process.

It reads the lake and never writes it; one page asks the job runner to evaluate an idea.

server.py      what listens: who is let in, what pages may load
site.py        PAGES as HTML, and the frame around each
site_pages/    one file per such page; choosing.py: what a reader chooses there
app.py         entry of Streamlit: settings, navigation
registry.py    PAGES, the one list of Streamlit's pages
screens/       one file per page of Streamlit, each with `show(lake: Lake) -> None`
ranking/       orders of ideas under any weights, and how far two of them agree
evaluating/    evaluating one idea: the form, what it asks of the job runner, the job's files
data.py        Lake: cached, read-only answers of the warehouse
state.py       controls whose values live in the address, so that a link restores a page
charts.py      charts with title, units and colours everyone can tell apart
tables.py      tables that sort, filter and page
empty.py       what a page says when it has nothing to show
links.py       links between pages
text.py        untrusted text as Markdown that is only text
access.py      who reads the pages and what they may do: accounts, a provider, or one password
sign_in.py     the form, and the way to a provider and back: routes beside the pages
attempts.py    wrong passwords, and how long who guesses waits
costs/, quality/   parts of the pages of these names

How to write a page of Streamlit
    1. `screens/<name>.py`::

           def show(lake: Lake) -> None:
               run = state.choose_run(lake)             # None: an empty state was shown
               if run is None:
                   return
               ranking = lake.ask(Queries.ranking, run.run_id) # any method of
               warehouse.queries.Queries, cached
               costs = lake.frame("cost_by_step", run_id=run.run_id) # sql/pages/cost_by_step.sql as
               a Polars frame, cached
               tables.show(costs, {"step": "Step", "cost_usd": tables.dollars("Cost")},
               key="cost_by_step")

       Answers are shared between readers: never change them. Each is kept until something new is
           published.
    2. One line in `registry.PAGES`. The title is printed by the entry; `show` begins with what
    stands below it.
    3. A control that changes what is shown comes from `state`; its `key` is its name in the address
    and its `format`
       does not exist: the words a reader sees are the words in the address.
    4. `st.markdown`, `st.caption`, `st.error`, labels and titles take Markdown: whatever comes from
    ideas, papers, replies or
       file names goes through `text.line` or `text.prose` first; `st.text`, `st.dataframe` and
       charts take it as it is.
       Never `unsafe_allow_html`.
    5. Every mean shows its unscored count beside it. No data: `empty.show`, with the command that
    would bring some.
    6. Errors of `schemas.errors` may leave `show`: the entry prints their one line.
    7. Who reads the page is `access.signed_in(lake.warehouse)`; a control for what not everybody may
    do is drawn where `access.may(lake.warehouse, Action.VOTE)`, and what writes begins with
    `access.check_may`. A page that is for some alone says so in `registry.PAGES` (`needs`).
    8. Tests: `tests/support/dashboard.py` opens one page with `open_page("name", warehouse,
    run="run-a")`.
"""
