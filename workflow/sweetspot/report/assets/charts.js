"use strict";
// A chart in view is drawn anew from its packed specification, with tooltips; the picture beneath stays, for paper.
async function unpackCharts(packed) {
  const bytes = Uint8Array.from(atob(packed.textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const { bundle, specs } = JSON.parse(await new Response(stream).text()), script = document.createElement("script");
  const ready = new Promise((resolve) => { window.chartsReady = resolve; });
  Object.assign(script, { type: "module", textContent: `${bundle}\nwindow.chartsReady();` });
  document.body.append(script);
  return ready.then(() => ({ specs, embed: window.vegaEmbed }));
}
(() => {
  // On a narrow phone a chart is scrolled rather than shrunk: by keys too.
  const frames = document.querySelectorAll("figure .chart"), reached = (frame) => { if (frame.scrollWidth > frame.clientWidth + 1) frame.tabIndex = 0; };
  frames.forEach(reached);
  const packed = document.getElementById("charts-packed");
  if (!packed || typeof DecompressionStream === "undefined") return;
  const draw = async (frame) => {
    const name = frame.closest("figure").id.slice(4), { specs, embed } = await (packed.found ??= unpackCharts(packed));
    if (!specs[name]) return;
    const picture = frame.querySelector("svg"), live = Object.assign(document.createElement("div"), { className: "live" });
    frame.append(live);
    await embed(live, specs[name], { mode: "vega", actions: false, renderer: "svg", logLevel: 1 });
    // One image with a name, as its picture was: a reader of screens is not led through every mark.
    const drawn = live.querySelector("svg"), words = ["role", "aria-label", "aria-roledescription"];
    for (const part of live.querySelectorAll("[role], [aria-label], [aria-roledescription]")) for (const word of words) part.removeAttribute(word);
    drawn.setAttribute("role", "img"); drawn.setAttribute("aria-label", picture.getAttribute("aria-label"));
    drawn.style.setProperty("--wide", `${drawn.getAttribute("width")}px`);
    frame.classList.add("drawn"); reached(frame);
  };
  const seen = new IntersectionObserver((entries) => {
    for (const { target } of entries.filter((one) => one.isIntersecting)) { seen.unobserve(target); draw(target); }
  }, { rootMargin: "300px" });
  frames.forEach((frame) => seen.observe(frame));
})();
// A link to a row in a closed fold opens it. A tooltip has the beginning of a source; the table of origins has the whole.
(() => {
  const reveal = () => {
    const target = document.querySelector(":target");
    for (let fold = target && target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();
  const complete = (event) => {
    const figure = event.target.closest && event.target.closest("a.n"), row = figure && document.getElementById(figure.hash.slice(1));
    if (row) figure.title = figure.title.replace(/[^·]*… \(origin \d+\)/, () => ` ${row.cells[2].textContent}`);
  };
  document.addEventListener("pointerover", complete); document.addEventListener("focusin", complete);
})();
