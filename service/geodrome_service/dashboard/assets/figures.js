// Draws the figures of a page, each from an address: that which its element names.

const CONFIG = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["lasso2d", "select2d"] };

export async function draw(element, from = element.dataset.figure) {
  const address = new URL(from, location.href);
  address.searchParams.set("theme", document.documentElement.dataset.theme);
  const answer = await fetch(address, { headers: { Accept: "application/json" } });
  const body = await answer.json();
  if (!answer.ok) {
    // What has been drawn stays: it was true, and is more than nothing.
    if (!element.dataset.drawn) element.textContent = body.detail;
    return;
  }
  // What a person has zoomed or turned stays as it is.
  body.layout.uirevision = "kept";
  await Plotly.react(element, body.data, body.layout, CONFIG);
  element.dataset.drawn = String(Number(element.dataset.drawn ?? 0) + 1);
}

export async function drawAll() {
  await Promise.allSettled([...document.querySelectorAll("[data-figure]")].map((element) => draw(element)));
}
