"use strict";
// A chart that comes into view is drawn anew from its specification, with tooltips. The picture beneath stays: for paper,
// and for whoever has no JavaScript. Specifications and the engine are packed: they are text that shrinks to a third.
const liveCharts = {};
async function unpackCharts(packed) {
  const bytes = Uint8Array.from(atob(packed.textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const { bundle, specs } = JSON.parse(await new Response(stream).text());
  const script = document.createElement("script");
  script.type = "module";
  const ready = new Promise((resolve) => { window.chartsReady = resolve; });
  script.textContent = `${bundle}\nwindow.chartsReady();`;
  document.body.append(script);
  await ready;
  return { specs, embed: window.vegaEmbed };
}
// On a narrow phone a chart is scrolled rather than shrunk: by keys too.
const reached = (frame) => { if (frame.scrollWidth > frame.clientWidth + 1) frame.tabIndex = 0; };
document.querySelectorAll("figure .chart").forEach(reached);
(() => {
  const packed = document.getElementById("charts-packed");
  if (!packed || typeof DecompressionStream === "undefined") return;
  let unpacked;
  const draw = async (frame) => {
    const name = frame.closest("figure").id.slice(4);
    unpacked = unpacked || unpackCharts(packed);
    const { specs, embed } = await unpacked;
    if (!specs[name]) return;
    const picture = frame.querySelector("svg"), live = document.createElement("div");
    live.className = "live";
    frame.append(live);
    const { view } = await embed(live, specs[name], { mode: "vega", actions: false, renderer: "svg", logLevel: 1 });
    // Whether it follows the panel: one that says that it has nothing to show does not.
    if ((specs[name].signals || []).some((one) => one.name === "says")) liveCharts[name] = view;
    const tidy = () => {
      const drawn = live.querySelector("svg");
      // One image with a name, as its picture was: a reader of screens is not led through every mark.
      for (const part of live.querySelectorAll("[role], [aria-label], [aria-roledescription]"))
        for (const word of ["role", "aria-label", "aria-roledescription"]) part.removeAttribute(word);
      drawn.setAttribute("role", "img");
      drawn.style.setProperty("--wide", `${drawn.getAttribute("width")}px`);
      drawn.setAttribute("aria-label", picture.getAttribute("aria-label"));
    };
    tidy();
    view.tidied = tidy;
    document.dispatchEvent(new CustomEvent("chart-drawn", { detail: name }));
    frame.classList.add("drawn");
    reached(frame);
  };
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((one) => one.isIntersecting)) { seen.unobserve(entry.target); draw(entry.target); }
  }, { rootMargin: "300px" });
  for (const frame of document.querySelectorAll("figure .chart")) seen.observe(frame);
})();
