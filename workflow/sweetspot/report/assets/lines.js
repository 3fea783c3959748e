"use strict";
// The charts of the page follow the panel by the one cost of model.js. Axes, dots and marks are those of first_charts.py.
const pictures = (() => {
  const WIDE = 440, HIGH = 250, LEFT = 52, RIGHT = 14, TOP = 24, BOTTOM = 34, LETTER = 6.8, LINE = 14; // pixels
  const MOST = 5, STEP = 0.2, POINTS = 5, FASTER = 0.999, { given, zero, plain, times } = model;
  const brief = (value) => (value >= 1e6 ? `${plain(value / 1e6)} M` : value >= 1e4 ? `${plain(value / 1e3)} k` : plain(value));
  const ticks = (most) => {
    const size = 10 ** Math.floor(Math.log10(most / 4)), step = [1, 2, 2.5, 5, 10].find((by) => by * size >= most / 4) * size;
    return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, n) => n * step);
  };
  // Outcomes of each choice, times what its central estimate moves by.
  function dots(by) {
    const DOT = 9, TALL = 66, STACK = 46, chart = document.querySelector(".dots"), axis = chart.querySelector(".axis");
    const rows = [...chart.querySelectorAll(".row")].map((row) => {
      const factor = zero(by[row.dataset.choice], 1), usd = row.dataset.usd * factor;
      return { middle: row.querySelector("em"), field: row.querySelector(".field"), usd, outcomes: JSON.parse(row.dataset.outcomes).map((one) => one * factor) };
    });
    const most = 1.04 * Math.max(...rows.flatMap(({ outcomes }) => outcomes));
    const placed = (one, usd) => { one.style.left = `${(100 * usd) / most}%`; one.textContent = brief(usd); return one; };
    for (const { middle, field, usd, outcomes } of rows) {
      if (!outcomes.length) { middle.textContent = `${brief(usd)} →`; continue; } // beyond the axis
      const places = outcomes.map((one) => Math.min(STACK - 1, Math.floor((STACK * one) / most))), under = places.map((place, n) => places.slice(0, n).filter((one) => one === place).length);
      const highest = Math.max(...under) + 1, step = Math.min(DOT, TALL / highest);
      field.querySelectorAll("i").forEach((dot, n) => Object.assign(dot.style, { left: `${(100 * (places[n] + 0.5)) / STACK}%`, bottom: `${step * under[n]}px` }));
      field.style.height = `${Math.round(step * highest) + 20}px`;
      placed(middle, usd);
    }
    axis.replaceChildren(...ticks(most).map((usd) => placed(document.createElement("i"), usd)), axis.querySelector("b"));
  }
  // Lines, each with its name at its end; points where each has but one.
  function drawn(up, { series, across, marks = [] }) {
    const ends = (n) => Math.max(...series.flatMap(({ points }) => points.map((point) => point[n]))) || 1, alone = series.every(({ points }) => points.length < 2);
    const right = ends(0) * (alone ? 1.1 : 1), top = ends(1) * (alone ? 1.1 : 1.05), made = [], taken = [];
    const atX = (x) => LEFT + ((WIDE - LEFT - RIGHT) * x) / right, atY = (y) => HIGH - BOTTOM - ((HIGH - TOP - BOTTOM) * y) / top;
    const part = (tag, fields, textContent = "") => {
      const one = made[made.push(document.createElementNS("http://www.w3.org/2000/svg", tag)) - 1];
      for (const [key, value] of Object.entries({ ...fields })) one.setAttribute(key, value);
      one.textContent = textContent;
    };
    // A text, and the box that it takes.
    const words = (x, y, text, anchor, kind = "") => { part("text", { x, y, "text-anchor": anchor, class: kind }, text); return boxed(x, y, text, anchor); };
    const boxed = (x, y, text, anchor) => { const wide = LETTER * text.length, left = x - (anchor === "end" ? wide : 0); return [left, left + wide, y]; };
    const free = ([left, end, y]) => left >= 0 && end <= WIDE && taken.every((one) => one[0] > end || one[1] < left || Math.abs(one[2] - y) >= LINE);
    for (const y of ticks(top)) { part("path", { class: "grid", d: `M${LEFT} ${atY(y)}H${WIDE - RIGHT}` }); words(LEFT - 5, atY(y) + 4, brief(y), "end"); }
    for (const x of ticks(right)) words(atX(x), HIGH - BOTTOM + 16, plain(x), "middle");
    words(WIDE - RIGHT, HIGH - 3, across, "end"); words(2, 10, up, "start");
    marks.forEach(([x, word], n) => {
      const late = atX(x) + LETTER * word.length > WIDE - RIGHT;
      part("path", { class: "mark", d: `M${atX(x)} ${TOP}V${HIGH - BOTTOM}` });
      taken.push(words(atX(x) + (late ? -4 : 4), TOP + 10 + LINE * n, word, late ? "end" : "start", "soft"));
    });
    if (alone) taken.push(...series.map(({ points: [[x, y]] }) => [atX(x) - 6, atX(x) + 6, atY(y) + 4]));
    for (const { kind, points, had = 1 } of series) {
      if (alone) part("circle", { class: `k-${kind}`, cx: atX(points[0][0]), cy: atY(points[0][1]), r: 5, "fill-opacity": had });
      else part("path", { class: `line k-${kind}`, d: `M${points.map((point) => `${atX(point[0]).toFixed(1)} ${atY(point[1]).toFixed(1)}`).join("L")}` });
    }
    for (const { name, kind, points } of series) { // names over all lines
      const last = points.at(-1)[0], x = atX(last), y = atY(Math.max(...points.filter(([at]) => at === last).map((point) => point[1])));
      const places = [0, 1, -1, 2, -2, 3, 4].flatMap((by) => (alone ? [[x + 8, y + 4 + LINE * by, name, "start"], [x - 8, y + 4 + LINE * by, name, "end"]] : [[x - 4, y - 6 + LINE * by, name, "end"]]));
      taken.push(words(...(places.find((place) => free(boxed(...place))) ?? places[0]), alone ? "soft" : `k-${kind}`));
    }
    return made;
  }
  // Each choice that is done, the cheapest first, in the study's money: its mean there times `by`, what the central estimate
  // moves by; whether it may be the answer in `stands`.
  let planned;
  function found(data, work, state) {
    const now = model.choices(data, work, state), before = (planned ??= model.choices(data, data.works[0], {}));
    return data.choices.map((one) => ({ ...one, now: now[one.choice], by: now[one.choice]?.usd / before[one.choice]?.usd })).filter(({ by }) => Number.isFinite(by))
      .map((one) => ({ ...one, usd: one.usd * one.by, stands: (one.stands || (state.interruptible && one.spot)) && !(one.now.hours > zero(state.within, Infinity)) }))
      .sort((a, b) => a.usd - b.usd);
  }
  const first = (all, commitment) => all.find((one) => one.stands && one.commitment === commitment);
  const crossing = (value, most, unit, said = plain(value)) => (value > 0 && value < most ? [[value, `buying pays from ${said} ${unit}`]] : []);
  function byWork(data, work, state, moved) {
    const jobs = [["jobs", work.jobs]];
    const grid = Array.from({ length: Math.round(MOST / STEP) }, (_, n) => STEP * (n + 1)).map((factor) => {
      const all = found(data, work, { ...state, ...Object.fromEntries(jobs.map(([name, planned]) => [name, zero(state[name], planned) * factor])) });
      return [factor, first(all, "buy"), first(all, "nothing")];
    });
    const over = ([, buy, rest]) => zero(buy?.usd, Infinity) - zero(rest?.usd, Infinity), n = grid.findIndex((one) => over(one) < 0), gaps = [n - 1, n].map((place) => (grid[place] ? over(grid[place]) : NaN));
    const here = n < 0 ? MOST : grid[n][0] - (Number.isFinite(gaps[0] - gaps[1]) ? (STEP * gaps[1]) / (gaps[1] - gaps[0]) : 0), pays = moved ? here : zero(data.pays, here), most = Math.min(MOST, Math.max(2, 1.4 * pays));
    const series = [1, 2].map((place) => grid.filter((one) => one[place] && one[0] <= most + 1e-9).map((one) => [one[0], one[place]])).filter((line) => line.length > 1)
      .map((line) => ({ name: line[0][1].kind, kind: line[0][1].kind, points: line.map(([factor, { usd }]) => [factor, usd]) }));
    const turns = Math.abs(pays - 1) > 0.1 && pays > STEP ? crossing(pays, MOST, ...(moved ? ["times"] : ["times, over all outcomes", times(pays)])) : [];
    return series.length > 1 && { series, across: moved ? "times the work of your case" : "times the planned work; lines: central estimate", marks: [[1, moved ? "your case" : "plan"], ...turns] };
  }
  // Of one job: what a month costs by the days on which the machine bought works, and what is rented for the same jobs.
  function byDays(data, buy, rest) {
    const own = buy && buy.now.own, hours = own && 24 * (1 - zero(own.downtime_share));
    if (!own || !rest) return null;
    const rent = (rest.now.usd * own.hour) / buy.now.usd, most = data.month_days, [bought, rented] = [own.variable, rent].map((usd) => hours * usd);
    return { series: [{ name: "buy", kind: "buy", points: [[0, own.month], [most, own.month + bought * most]] }, { name: rest.kind, kind: rest.kind, points: [[0, 0], [most, rented * most]] }],
      up: `${data.currency} a month`, across: "days of use a month", marks: [[own.days_per_month, "your case"], ...crossing(own.month / (rented - bought), most, "days")] };
  }
  // What finishing earlier costs: what nothing beats in both hours and money.
  function byHours(all) {
    const front = [];
    for (const one of all) if (one.stands && !(one.now.hours >= FASTER * (front.at(-1)?.now.hours ?? Infinity))) front.push(one);
    const step = Math.max(1, Math.ceil((front.length - 1) / (POINTS - 1))), shown = front.filter((_, n) => n === front.length - 1 || (n % step === 0 && n < step * (POINTS - 1)));
    return front.length > 1 && { series: shown.map(({ title, kind, usd, now, had }) => ({ name: title, kind, had, points: [[now.hours, usd]] })), across: "hours" };
  }
  // Money by month: the price at once and the resale at the end, against a rent.
  function byMonth(work, state, all) {
    const months = zero(state.months, work.months);
    const series = ["buy", "contract", "nothing"].map((commitment) => first(all, commitment)).filter(Boolean).map(({ kind, commitment, usd, now }) => {
      const held = (commitment === "buy" ? [[now.offer, zero(now.machines, 1)]] : []).map(([offer, count]) => [model.owned(offer, state, work), count]);
      const [paid, sold] = ["capex_usd", "back"].map((key) => held.reduce((total, [own, count]) => total + count * own[key], 0));
      return { name: kind, kind, points: [[0, paid], [months, usd + sold], ...(sold > 0 ? [[months, usd]] : [])] };
    });
    return given(work.months) && series.length > 1 && { series, across: "months" };
  }
  // At the study's own figures the pictures are those of the tables. What does not follow says so (first.css).
  const pictures = new Map();
  function follow(data, work, state, all, moved) {
    const made = { pays: () => (work.cost === "share" ? byDays(data, first(all, "buy"), first(all, "nothing")) : byWork(data, work, state, moved)),
      faster: () => byHours(all), money: () => byMonth(work, state, all) };
    for (const [id, make] of Object.entries(made)) {
      const figure = document.getElementById(id), svg = figure && figure.querySelector("svg");
      if (!svg) continue;
      if (!pictures.has(svg)) pictures.set(svg, [...svg.childNodes]);
      const chart = moved && make();
      svg.replaceChildren(...(chart ? drawn(chart.up ?? data.currency, chart) : pictures.get(svg)));
      figure.classList.toggle("follows", Boolean(chart));
    }
  }
  return { dots, found, first, follow };
})();
