"""Checks of tables, cell by cell: totals, and agreement with the text.

Only LaTeX and Markdown tables are read, because the cells of a printed table are unknown.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from schemas.text.patterns import IGNORECASE, MULTILINE, Match, Pattern, bounded, linear
from tasks.manuscripts.steps.reading import DetectedProblem, PlacedSentence, Reading

_TABULAR = bounded(r"\\(begin|end)\{(tabular[xy]?\*?|longtable|tabulary)\}")
_FLOAT = bounded(r"\\(begin|end)\{(table\*?|sidewaystable|longtable)\}")
_LABEL = linear(r"\\label\s*\{([^{}]+)\}")
_ROW_END = linear(r"\\\\(?:\s*\[[^\[\]]{0,30}\])?|\\tabularnewline")
_CELL_END = bounded(r"(?<!\\)&")
_SPAN = linear(r"\\multi(?:column|row)\s*\{(\d{1,2})\}\s*\{[^{}]*\}\s*\{([^{}]*)\}")
_COMMAND = linear(r"\\[a-zA-Z]+\*?(?:\s*\[[^\[\]]*\])?|[{}$~*_]|\\.")
_RULES = linear(
    r"\\(?:top|mid|bottom|h|c)(?:rule|line|midrule)(?:\s*\([^()]*\))?(?:\s*\{[^{}]*\})?"
)
_COLUMNS = linear(r"^\s*(?:\[[^\[\]]*\]\s*)?\{(?:[^{}]|\{[^{}]*\})*\}")
_PIPES = linear(r"^[ \t]*\|(?:[^\n|]*\|)+[ \t]*$", MULTILINE)
_DIVIDER = bounded(r"[\s|:+-]+")
_CAPTION_NUMBER = bounded(
    r"^[^\S\n]*+(?:\*\*)?table\s{0,9}(\d{1,2})\s{0,9}(?:[:.|]|\*\*)", IGNORECASE | MULTILINE
)
_NUMBER = bounded(r"[-+−]?(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(\.\d{1,15})?\s?%?")
_TOTAL = bounded(r"(?:grand |sub)?(?:total|sum)\b", IGNORECASE)
_NO_SUM = bounded(
    r"%|\bpercent|\bmean\b|\baverage|\bavg|\bratio|\brate\b|\bshare|\bunique|\bmedian", IGNORECASE
)
_MOST_TABLES, _MOST_ROWS = 100, 200
"""Largest tables that are checked; readers do not add up larger ones."""
_FEWEST_ADDENDS = 2
_FARTHEST = 0.6
"""Share of the total by which a sum may miss it and still be meant as its sum."""
_FARTHEST_CELL = 3.0
"""Largest ratio of a figure in the text to a cell that it can be about."""


@dataclass(frozen=True, slots=True)
class Table:
    """Cells by row, as text without markup; `names` are labels and numbers used in references."""

    rows: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]
    location: str

    def row_text(self, place: int) -> str:
        return " | ".join(self.rows[place])


def tables_of(reading: Reading) -> tuple[Table, ...]:
    return tuple(_latex_tables(reading) if reading.is_latex else _markdown_tables(reading))


def _latex_tables(reading: Reading) -> Iterator[Table]:
    text = reading.text
    floats = [
        (low, high, _LABEL.findall(text[low:high])) for low, high in _environments(text, _FLOAT)
    ]
    for begin, end in islice(_environments(text, _TABULAR), _MOST_TABLES):
        before = bisect_right(floats, begin, key=lambda one: one[0])
        enclosing_float = floats[before - 1] if before else None
        labels = (
            enclosing_float[2] if enclosing_float is not None and end <= enclosing_float[1] else []
        )
        inside = _COLUMNS.sub("", text[begin:end], count=1)
        # The width of these environments comes before their columns.
        if text[begin - 2 : begin] in ("*}", "x}", "y}"):
            inside = _COLUMNS.sub("", inside, count=1)
        rows = tuple(islice(_latex_rows(inside), _MOST_ROWS))
        if rows:
            yield Table(rows, tuple(labels), reading.place_of(begin))


def _environments(text: str, marks: Pattern) -> Iterator[tuple[int, int]]:
    """Yield the spans of complete environments."""
    start: int | None = None
    for mark in marks.finditer(text):
        if mark.group(1) == "begin":
            start = mark.end() if start is None else start
        elif start is not None:
            yield start, mark.start()
            start = None


def _latex_rows(inside: str) -> Iterator[tuple[str, ...]]:
    for line in _ROW_END.split(inside):
        cells = []
        for cell in _CELL_END.split(_SPAN.sub(_spread, _RULES.sub(" ", line or ""))):
            signs = cell.replace("\\%", "%").replace("\\&", "&").replace("\\,", "")
            cells.append(" ".join(_COMMAND.sub(" ", signs).split()))
        if len(cells) > 1:
            yield tuple(cells)


def _spread(span: Match[str]) -> str:
    """Return a cell over several columns as its text and empty cells."""
    over = int(span.group(1)) if span.group().startswith("\\multicolumn") else 1
    return f"{span.group(2)}{' & ' * (min(over, 40) - 1)}"


def _markdown_tables(reading: Reading) -> Iterator[Table]:
    rows: list[tuple[str, ...]] = []
    first = last = 0
    table_count = 0
    for line in [*_PIPES.finditer(reading.text), None]:
        if rows and (line is None or line.start() > last + 1):
            nearby_text = (
                reading.text[max(first - 300, 0) : first] + reading.text[last : last + 300]
            )
            table_count += 1
            yield Table(
                tuple(rows[:_MOST_ROWS]),
                tuple(_CAPTION_NUMBER.findall(nearby_text)),
                reading.place_of(first),
            )
            rows = []
        if line is None or table_count == _MOST_TABLES:
            return
        first, last = (first if rows else line.start()), line.end()
        if not _DIVIDER.fullmatch(line.group()):
            cells = line.group().strip().strip("|").split("|")
            rows.append(tuple(" ".join(cell.replace("*", "").split()) for cell in cells))


def value_of(cell: str) -> float | None:
    """Return the number that is a cell's only content, else None."""
    bare_cell = cell.strip()
    if _NUMBER.fullmatch(bare_cell) is None:
        return None
    return float(bare_cell.rstrip("% ").replace(",", "").replace("−", "-"))


# Totals.


def check_totals(reading: Reading) -> Iterator[DetectedProblem]:
    """Find total rows whose counts are not the sum of the rows above.

    Only whole counts are added, and only if all rows of the column have one: totals of means or
    shares are no sums.
    """
    for table in tables_of(reading):
        heads = table.rows[0]
        first_row, totals = 1, set[int]()
        for place, row in enumerate(table.rows):
            if not any(_TOTAL.match(cell) for cell in row):
                continue
            for column in range(max(map(len, table.rows))):
                head = heads[column] if column < len(heads) else ""
                cells = [each[column] if column < len(each) else "" for each in table.rows]
                mismatch = _sum_mismatch(cells[first_row:place], row, column)
                all_rows = [cells[n] for n in range(1, place) if n not in totals]
                # A grand total also counts the rows above earlier totals.
                if mismatch and _sum_mismatch(all_rows, row, column) and not _NO_SUM.search(head):
                    of_column = f"column “{head}” of " if head else ""
                    name = f", table {table.names[0]}" if table.names else ""
                    yield DetectedProblem(
                        "table_total",
                        1,
                        f"A total in {of_column}a table is {mismatch[1]:,.0f}; the rows above it"
                        f" come to {mismatch[0]:,.0f}.",
                        f"{table.location}{name}",
                        f"The row of the total: {table.row_text(place)}",
                    )
            totals.add(place)
            first_row = place + 1


def _sum_mismatch(
    upper_cells: Sequence[str], row: Sequence[str], column: int
) -> tuple[float, float] | None:
    """Return (sum, printed total) if they differ."""
    total = value_of(row[column]) if column < len(row) else None
    addends = [value_of(cell) for cell in upper_cells if cell]
    if (
        total is None
        or len(addends) < _FEWEST_ADDENDS
        or None in addends
        or "%" in "".join(upper_cells)
    ):
        return None
    numbers = [number for number in addends if number is not None]
    if any(number != int(number) for number in [*numbers, total]):
        return None
    row_sum = sum(numbers)
    return (row_sum, total) if 0 < abs(row_sum - total) <= _FARTHEST * abs(total) else None


# Text against tables.

_REFERENCE = linear(r"\\(?:[cC]ref|autoref|ref)\*?\s*\{([^{}]+)\}")
_MENTION = bounded(r"\btables?[\s~](\d{1,2})(?![\d.])", IGNORECASE)
_FIGURE = bounded(r"(?<![\w.])\d{1,9}\.\d{1,9}(?![\w.])")
_FEWEST_LETTERS = 2


def check_text_against_tables(reading: Reading) -> Iterator[DetectedProblem]:
    """Find sentences whose only figure differs from the cell of the row and column they name."""
    tables = {
        name: table for table in tables_of(reading) for name in table.names if len(table.rows) > 1
    }
    for entry in reading.sentences if tables else ():
        table_names = {
            name.strip()
            for mention in (
                *_REFERENCE.findall(entry.sentence),
                *_MENTION.findall(entry.sentence),
            )
            for name in mention.split(",")
        }
        if len(table_names) == 1 and (table := tables.get(table_names.pop())) is not None:
            yield from _contradictions(entry, table)


def _contradictions(entry: PlacedSentence, table: Table) -> Iterator[DetectedProblem]:
    figures = set(_FIGURE.findall(entry.sentence))
    if len(figures) != 1:
        return
    sentence = f" {entry.sentence} ".replace(",", " ")
    rows = [place for place, row in enumerate(table.rows) if place and _names(sentence, row[0])]
    columns = [
        place for place, head in enumerate(table.rows[0]) if place and _names(sentence, head)
    ]
    if (len(rows), len(columns)) != (1, 1):
        return
    figure, row = figures.pop(), table.rows[rows[0]]
    printed_cell = row[columns[0]] if columns[0] < len(row) else ""
    cell = value_of(printed_cell)
    if not cell or not 1 / _FARTHEST_CELL <= float(figure) / cell <= _FARTHEST_CELL:
        return
    digits = min(len(figure.partition(".")[2]), len(printed_cell.rstrip("% ").partition(".")[2]))
    if abs(float(figure) - cell) > 0.5 * 10.0**-digits + 1e-9:
        problem = f"The text says {figure} where its table has {printed_cell}."
        reason = f"The row: {table.row_text(rows[0])}; the columns: {table.row_text(0)}."
        yield entry.problem("text_against_table", 1, problem, reason)


def _names(sentence: str, header: str) -> bool:
    letters = sum(character.isalpha() for character in header)
    return letters >= _FEWEST_LETTERS and f" {header} " in sentence
