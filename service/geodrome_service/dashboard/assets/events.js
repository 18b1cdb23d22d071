// What a page does when something happens to its study: the server tells it as it happens.

const KINDS = ["created", "changed", "active", "paused", "closed", "queued", "running", "resumed", "completed", "failed", "lost", "abandoned"];

const AGAIN_MS = 5000;
const SHARE = 3;
// Work rests so many times longer than it took.

const stale = document.querySelector("[data-stale]");

export const rest = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

// Work that is asked for again and again: it never overlaps itself, rests at least so long, waits until somebody looks,
// and is done once more if it was asked for meanwhile.
export function paced(work, restMs) {
  let isAsked = false;
  let isBusy = false;
  async function ask() {
    isAsked = true;
    if (isBusy) return;
    isBusy = true;
    while (isAsked && !document.hidden) {
      isAsked = false;
      const begun = performance.now();
      await Promise.allSettled([work()]);
      await rest(Math.max(restMs, SHARE * (performance.now() - begun)));
    }
    isBusy = false;
  }
  document.addEventListener("visibilitychange", () => { if (isAsked) ask(); });
  return ask;
}

export function follow(address, happened, kinds = KINDS) {
  let events;
  function open() {
    events = new EventSource(address);
    for (const kind of kinds) events.addEventListener(kind, happened);
    events.addEventListener("open", () => { stale.hidden = true; });
    events.addEventListener("error", () => {
      stale.hidden = false;
      if (events.readyState === EventSource.CLOSED) refused();
    });
  }
  async function refused() {
    // The study may be deleted, or the key have ended: then the page itself says so.
    const page = await fetch(location.href).catch(() => null);
    if (page && (page.redirected || page.status === 403 || page.status === 404)) return location.reload();
    await rest(AGAIN_MS);
    open();
  }
  open();
  addEventListener("pagehide", () => events.close());
}
