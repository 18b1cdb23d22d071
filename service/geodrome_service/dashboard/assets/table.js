// Sorts, filters and pages the table of trials without loading the page anew; without this script its links do.
import { replace } from "./live.js";

const table = document.querySelector("[data-table]");

async function show(query) {
  const address = table.dataset.table + query;
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  replace(table, await answer.text());
  // Only the first page is kept as new as the study: who reads another one is not disturbed.
  if (new URLSearchParams(query).has("page")) delete table.dataset.live;
  else table.dataset.live = address;
}

function go(query) {
  history.pushState(null, "", location.pathname + query + "#trials");
  return show(query);
}

table.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-part]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(new URL(link.href).search);
});

table.addEventListener("submit", (event) => {
  if (!event.target.matches("form[data-part]")) return;
  event.preventDefault();
  const wanted = [...new FormData(event.target)].filter(([, value]) => value !== "");
  go(`?${new URLSearchParams(wanted)}`);
});

table.addEventListener("change", (event) => {
  if (event.target.matches("form[data-part] select")) event.target.form.requestSubmit();
});

addEventListener("popstate", () => show(location.search));
