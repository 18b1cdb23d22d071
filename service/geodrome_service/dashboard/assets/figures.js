// Draws the figures of a page, each from the address that its element names.

const CONFIG = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["lasso2d", "select2d"] };

async function draw(element) {
  const address = new URL(element.dataset.figure, location.href);
  address.searchParams.set("theme", document.documentElement.dataset.theme);
  const answer = await fetch(address, { headers: { Accept: "application/json" } });
  const body = await answer.json();
  if (!answer.ok) {
    element.textContent = body.detail;
    return;
  }
  // What a person has zoomed or turned stays as it is.
  body.layout.uirevision = "kept";
  await Plotly.react(element, body.data, body.layout, CONFIG);
  element.dataset.drawn = String(Number(element.dataset.drawn ?? 0) + 1);
}

export async function drawAll() {
  await Promise.allSettled([...document.querySelectorAll("[data-figure]")].map(draw));
}
