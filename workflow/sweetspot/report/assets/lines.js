"use strict";
// Charts of the page that follow the panel: cost by the amount of work, and money by month, both by the one cost of model.js.
// Axes and marks are those of first_charts.py (Frame, lines_chart).
const lines = (() => {
  const WIDE = 440, HIGH = 250, LEFT = 52, RIGHT = 14, TOP = 12, BOTTOM = 34, MOST = 5, STEP = 0.2, { given, zero, plain } = model;
  const brief = (value) => (value >= 1e6 ? `${plain(value / 1e6)} M` : value >= 1e4 ? `${plain(value / 1e3)} k` : plain(value));
  const ticks = (most) => {
    const size = 10 ** Math.floor(Math.log10(most / 4)), step = [1, 2, 2.5, 5, 10].find((by) => by * size >= most / 4) * size;
    return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, n) => n * step);
  };
  function drawn(svg, series, across, up, marks) {
    const right = Math.max(...series.flatMap(({ points }) => points.map(([x]) => x))) || 1, top = 1.05 * Math.max(...series.flatMap(({ points }) => points.map(([, y]) => y))) || 1;
    const atX = (x) => LEFT + ((WIDE - LEFT - RIGHT) * x) / right, atY = (y) => HIGH - BOTTOM - ((HIGH - TOP - BOTTOM) * y) / top, made = [], taken = [];
    const part = (tag, fields, textContent = "") => { const one = document.createElementNS("http://www.w3.org/2000/svg", tag); Object.entries(fields).forEach(([key, value]) => one.setAttribute(key, value)); one.textContent = textContent; made.push(one); };
    const words = (x, y, text, anchor, kind = "") => part("text", { x, y, "text-anchor": anchor, class: kind }, text);
    for (const y of ticks(top)) { part("path", { class: "grid", d: `M${LEFT} ${atY(y)}H${WIDE - RIGHT}` }); words(LEFT - 5, atY(y) + 4, brief(y), "end"); }
    for (const x of ticks(right)) words(atX(x), HIGH - BOTTOM + 16, plain(x), "middle");
    words(WIDE - RIGHT, HIGH - 3, across, "end"); words(2, 10, up, "start");
    marks.forEach(([x, word], n) => {
      part("path", { class: "mark", d: `M${atX(x)} ${TOP}V${HIGH - BOTTOM}` });
      words(atX(x) + (x > 0.75 * right ? -4 : 4), TOP + 10 + 14 * n, word, x > 0.75 * right ? "end" : "start", "soft");
    });
    for (const { name, kind, points } of series) {
      part("path", { class: `line k-${kind}`, d: `M${points.map(([x, y]) => `${atX(x).toFixed(1)} ${atY(y).toFixed(1)}`).join("L")}` });
      const [x, y] = points[points.length - 1];
      let place = atY(y) - 6;
      while (taken.some((other) => Math.abs(place - other) < 14)) place += 14;
      taken.push(place); words(atX(x) - 4, place, name, "end", `k-${kind}`);
    }
    svg.replaceChildren(...made);
  }
  // The cheapest choice that binds so, in the study's money: its mean there times what the central estimate says that it moves.
  function cheapest(data, before, now, binds) {
    const able = data.choices.filter((one) => one.stands && one.binds === binds && now[one.choice] && Number.isFinite(now[one.choice].usd)).map((one) => ({ ...one, now: now[one.choice], usd: (one.usd * now[one.choice].usd) / before[one.choice].usd }));
    return able.sort((a, b) => a.usd - b.usd)[0];
  }
  function byWork(data, work, state, before, moved) {
    const more = (factor) => (work.cost === "rounds" ? { jobs: zero(state.jobs, work.jobs) * factor } : Object.fromEntries(work.classes.map((one) => [`jobs:${one.name}`, zero(state[`jobs:${one.name}`], one.jobs) * factor])));
    const found = ["buy", "nothing"].map((binds) => ({ binds, points: [] })), grid = Array.from({ length: Math.round(MOST / STEP) }, (_, n) => STEP * (n + 1));
    for (const factor of grid) {
      const now = model.choices(data, work, { ...state, ...more(factor) });
      for (const one of found) { const best = cheapest(data, before, now, one.binds); if (best) { one.kind ??= best.kind; one.points.push([factor, best.usd]); } }
    }
    const [buy, rest] = found;
    if (buy.points.length < 2 || rest.points.length < 2) return null;
    const gap = grid.map((factor) => [factor, ...found.map(({ points }) => zero((points.find(([x]) => x === factor) || [])[1], Infinity))]), here = gap.find(([, bought, other]) => bought < other);
    const most = Math.min(MOST, Math.max(2, 1.4 * (here ? here[0] : MOST))), marks = [[1, moved ? "your case" : "plan"]];
    if (moved && here && here[0] > STEP && Math.abs(here[0] - 1) > 0.1) marks.push([here[0], `buying pays from ${plain(here[0])}`]);
    return { series: found.map(({ kind, points }) => ({ name: kind, kind, points: points.filter(([x]) => x <= most + 1e-9) })), marks };
  }
  function byMonth(data, work, state, before) {
    const now = model.choices(data, work, state), held = work.sources && work.sources.filter((one) => given(one.room));
    const series = ["buy", "contract", "nothing"].map((binds) => cheapest(data, before, now, binds)).filter(Boolean).map((one) => {
      const kinds = held ? held.map((kind, n) => [kind.offer, one.now.counts[n] - kind.there]) : [[one.now.offer, one.now.machines]];
      let paid = 0, sold = 0;
      for (const [offer, count] of kinds) if (one.binds === "buy" && count > 0 && offer.purchase === "own") { const own = model.owned(offer, state, work); paid += count * own.capex_usd; sold += count * own.back; }
      return { name: one.kind, kind: one.kind, points: [[0, paid], [work.months, one.usd + sold], ...(sold > 0 ? [[work.months, one.usd]] : [])] };
    });
    return series.length < 2 ? null : { series, marks: [] };
  }
  // Redraws what follows; a work of one job has its chart by days, which stays as the study has it. At the study's own figures
  // the pictures are those of the tables, but of months, where the tables know the work near the plan alone.
  const pictures = new Map();
  return function follow(data, work, state, before, moved) {
    if (work.cost === "share") return;
    const found = { pays: [() => byWork(data, work, state, before, moved), `times the ${moved ? "work of your case" : "planned work"}`], money: [() => byMonth(data, work, state, before), "months"] };
    for (const [id, [made, across]] of Object.entries(found)) {
      const figure = document.getElementById(id), svg = figure && figure.querySelector("svg");
      if (!svg) continue;
      if (!pictures.has(svg)) pictures.set(svg, [...svg.childNodes]);
      const all = moved || (id === "pays" && work.cost === "dispatch") ? made() : null;
      if (!all) svg.replaceChildren(...pictures.get(svg));
      figure.classList.toggle("follows", Boolean(all));
      if (all) drawn(svg, all.series, across, data.currency, all.marks);
    }
  };
})();
