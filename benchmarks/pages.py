"""How long a person waits for the page of a study with very many trials, in a headless Chromium on the same machine.

    python benchmarks/pages.py [--quick] [--database …] [--trials N …] [--opened N] [--json FILE]

Each page is opened several times by a browser that has nothing of it yet. ``paint_ms`` is the first contentful paint,
at which a person begins to read, ``figure_ms`` the time until the convergence is drawn; ``last_page_ms`` and
``by_cost_ms`` are what other parts of the table of trials take. All are medians.
"""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Iterator
from typing import Any

import geodrome
import report
import servers
from latency import filled
from playwright.sync_api import Browser, Page, sync_playwright
from rich.console import Console
from rich.table import Table

TRIALS, QUICK_TRIALS = (10_000, 100_000), (500,)
OPENED, QUICK_OPENED = 5, 1

CHROMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]

WAIT_MS = 120_000

PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
DRAWN = "() => document.querySelector('[data-figure]').dataset.drawn"
FETCH = """async (address) => {
  const begin = performance.now();
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${answer.status} ${address}`);
  await answer.text();
  return performance.now() - begin;
}"""


def main() -> None:
    """Measure, print and write."""
    parser = report.parser(__doc__, quick=f"{QUICK_TRIALS[0]} trials, opened once")
    parser.add_argument("--database", choices=servers.DATABASES, default="sqlite")
    parser.add_argument("--trials", nargs="*", type=int, metavar="N", help="of each study")
    parser.add_argument("--opened", type=int, metavar="N", help="so many times")
    arguments = parser.parse_args()
    sizes = arguments.trials or (QUICK_TRIALS if arguments.quick else TRIALS)
    opened = arguments.opened or (QUICK_OPENED if arguments.quick else OPENED)
    with servers.empty_database(arguments.database) as database, servers.server(database) as at:
        rows = list(measured(at.url, arguments.database, sizes, opened))
    totals = {f"paint_ms_at_{row['n']}": row["paint_ms"] for row in rows}
    show(rows)
    report.write(arguments.json, rows=rows, summary=totals)


def measured(url: str, database: str, sizes: list[int], opened: int) -> Iterator[dict[str, Any]]:
    """A row for each size; printed, too, as soon as it is there."""
    executable = next(filter(None, map(shutil.which, CHROMES)), None)
    with geodrome.Client(url, timeout_s=600) as client, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        for size in sizes:
            filled(client, f"trials-{size}", size)
            times = [once(browser, f"{url}/studies/trials-{size}", size) for _ in range(opened)]
            medians = {name: statistics.median(one[name] for one in times) for name in times[0]}
            row = {"method": "geodrome", "database": database, "n": size, "opened": opened, **medians}
            print(", ".join(f"{name} {value}" for name, value in row.items()), flush=True)
            yield row
        browser.close()


def once(browser: Browser, address: str, size: int) -> dict[str, float]:
    """Milliseconds of one look."""
    context = browser.new_context(viewport={"width": 1280, "height": 850})
    page: Page = context.new_page()
    page.goto(address, timeout=WAIT_MS)
    page.wait_for_function(PAINT, timeout=WAIT_MS)
    page.wait_for_function(DRAWN, timeout=WAIT_MS)
    figure_ms = page.evaluate("() => performance.now()")
    times = {"paint_ms": page.evaluate(PAINT), "figure_ms": figure_ms}
    for name, query in (("last_page_ms", f"page={-(-size // 50)}"), ("by_cost_ms", "sort=cost&order=asc")):
        times[name] = page.evaluate(FETCH, f"{address}/trials?{query}")
    context.close()
    return times


def show(rows: list[dict[str, Any]]) -> None:
    """Prints a table of medians."""
    names = ("paint_ms", "figure_ms", "last_page_ms", "by_cost_ms")
    table = Table("trials", *(name.removesuffix("_ms").replace("_", " ") + ", ms" for name in names))
    for row in rows:
        table.add_row(f"{row['n']:,}", *(f"{row[name]:.0f}" for name in names))
    Console().print(table)


if __name__ == "__main__":
    main()
