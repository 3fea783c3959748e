"use strict";
// The panel "your case": its controls, the address that keeps what they say, and what follows them: on the page the verdict,
// its figures and the first chart, on that of evidence the order of the options and the charts. It calculates nothing.
(() => {
  const at = (id) => document.getElementById(id), source = at("case-data");
  if (!source) return;
  const { zero, given, number, times, plain } = model, data = model.unpack(JSON.parse(source.textContent)), code = data.currency;
  const form = at("case"), says = at("case-says"), short = Boolean(data.choices);
  const made = (tag, fields = {}, ...children) => { const one = Object.assign(document.createElement(tag), fields); one.append(...children); return one; };
  // One entry a control of the work (report/case_controls.py): `read` of a text in the address (undefined: ignored), `show` of
  // the state in it. state[key] is null where the study's own figure holds. `typing`: the field that is typed in is left alone.
  let work, controls = {}, state = {}, typing = null;
  const inRange = (low, high) => (text) => (/^-?\d{1,12}(\.\d{1,9})?$/.test(text) ? Math.min(high, Math.max(low, Number(text))) : undefined);
  const positive = (text) => inRange(0, 1e9)(text) || undefined;
  const field = (input, text, label, unit = "") => made("label", { className: "limit" }, `${label} `, Object.assign(input, { type: "number", min: 0, step: "any", inputMode: "decimal", placeholder: text }), unit);
  const kinds = {
    range(input, { key, label, ends: [min, max, step], value, digits, assumed, an_hour: rates }) {
      const output = made("output"), show = () => {
        const now = zero(state[key], value);
        output.textContent = !given(now) ? assumed : rates ? `${number(now)} (${rates.map((rate) => number(now * rate, 2)).join(" to ")} an hour)` : key.startsWith("jobs") ? plain(now) : number(now, digits);
        input.value = zero(now, 0); input.setAttribute("aria-valuetext", output.textContent);
      };
      return { frame: made("label", {}, label, output, Object.assign(input, { type: "range", min, max, step })), rest: null, read: inRange(min, max), show };
    },
    limit: (input, { key, label, unit }) => ({ frame: field(input, "no limit", label, ` ${unit}`), rest: null, read: positive, show: () => { if (typing !== input) input.value = zero(state[key], ""); } }),
    check: (input, { key, label }) => ({ frame: made("label", { className: "check" }, Object.assign(input, { type: "checkbox" }), ` ${label}`), rest: data.accepts, read: (text) => ({ 1: true, 0: false })[text], show: () => { input.checked = state[key]; } }),
    // Jobs a week stand for days of use of the box.
    jobs(input, { label }) {
      const aDay = ({ box, judged }) => (24 * 7 * (1 - zero(box.downtime_share)) * zero(judged.job.slots, 1)) / (data.month_days * judged.hours), found = () => model.answer(data, work, state);
      const show = () => { const now = found(); if (typing !== input) input.value = Number((now.box.days_per_month * aDay(now)).toPrecision(3)); };
      return { frame: field(input, "", label), read: positive, show, write: (jobs) => { if (jobs > 0) state.days = inRange(1, data.month_days)((jobs / aDay(found())).toFixed(6)); } };
    },
  };
  function build(place) {
    const more = made("details", {}, made("summary", { textContent: short ? "More" : "Prices and interruptions" })), select = made("select", { id: "control-work", name: "work" });
    work = data.works[place]; controls = {};
    select.append(...data.works.map((one, n) => new Option(one.label, n, false, n === place)));
    select.addEventListener("change", () => { build(Number(select.value)); render(); keep(); });
    form.replaceChildren(...(data.works.length > 1 ? [made("label", { htmlFor: select.id }, "what is done ", select)] : []));
    work.controls.forEach((said, n) => {
      const input = made("input", { name: said.key }), one = (controls[said.key] = kinds[said.kind](input, said));
      input.id = one.frame.htmlFor = one.write ? "control-jobs" : `control-${n}`;
      input.addEventListener("input", () => {
        const value = input.type === "checkbox" ? input.checked : zero(one.read(input.value), one.rest);
        if (one.write) one.write(value); else state[said.key] = value;
        typing = input; render(); typing = null;
      });
      input.addEventListener("change", keep);
      (said.more ? more : form).append(one.frame);
    });
    const button = (textContent, act) => { const one = made("button", { type: "button", textContent }); one.addEventListener("click", act); return one; };
    const back = button("Back to the study's figures", () => { state = {}; build(data.first); render(); keep(); });
    form.append(...(more.childElementCount > 1 ? [more] : []), made("p", {}, back, button("Copy link", () => navigator.clipboard?.writeText(location.href))));
    state = { interruptible: zero(state.interruptible, data.accepts), ...Object.fromEntries(Object.entries(controls).filter(([, one]) => !one.write).map(([key, one]) => [key, zero(state[key], one.rest)])) };
  }
  const moved = () => Object.keys(controls).filter((key) => state[key] !== controls[key].rest);
  // The address: what differs from the study, behind what others keep there.
  const decoded = (text) => { try { return decodeURIComponent(text); } catch { return ""; } };
  const parts = () => location.hash.slice(1).split("&").filter((part) => part.includes("=")).map((part) => [part, ...part.split(/=(.*)/s, 2).map(decoded)]);
  const owns = (key) => key === "work" || Object.prototype.hasOwnProperty.call(controls, key);
  function keep() {
    const mine = [...(work === data.works[data.first] ? [] : [["work", work.workload]]), ...moved().map((key) => [key, Number(state[key])])];
    const all = [...parts().filter(([, key]) => !owns(key)).map(([part]) => part), ...mine.map((pair) => pair.map(encodeURIComponent).join("="))].join("&");
    if (all !== location.hash.slice(1) && (all || parts().length)) history.pushState(null, "", all ? `#${all}` : location.pathname + location.search);
  }
  function follow() {
    if (work && location.hash.length > 1 && !location.hash.includes("=")) return; // a link within the page says nothing of the figures
    const said = parts(), asked = said.filter(([, key]) => key === "work").map(([, , text]) => data.works.findIndex((one, n) => one.workload === text || String(n) === text));
    state = {}; build(asked[0] >= 0 ? asked[0] : data.first);
    for (const [, key, text] of said) {
      const value = key !== "work" && owns(key) ? controls[key].read(text) : undefined;
      if (value !== undefined && !controls[key].write) state[key] = value;
    }
    render();
  }
  // The page: verdict, what to do, figures, chart. Each choice's outcomes move as its central estimate does.
  const CLOSE = 1.1; // a ratio below which a central estimate tells nothing
  const told = short ? { verdict: at("verdict").textContent, "do-this": at("do-this").textContent } : {}, before = short ? model.choices(data, data.works[0], {}) : {};
  const brief = (value) => (value >= 1e4 ? `${plain(value / 1e3)} k` : plain(value));
  function verdict() {
    const now = model.choices(data, work, state), change = (choice) => (now[choice] ? now[choice].usd / before[choice].usd : NaN);
    const stands = data.choices.filter((one) => (one.stands || (state.interruptible && one.spot)) && Number.isFinite(change(one.choice)) && !(now[one.choice].hours > zero(state.within, Infinity)))
      .map((one) => ({ ...one, usd: one.usd * change(one.choice) })).sort((a, b) => a.usd - b.usd);
    const [best] = stands, [above, below] = data.ratio.map((binds) => stands.find((one) => one.binds === binds)), rival = best && stands.find((one) => one.binds !== best.binds), ratio = rival ? rival.usd / best.usd : Infinity;
    const close = ratio < CLOSE, take = close && rival.rank < best.rank ? rival : best, other = take === best ? rival : best;
    Object.assign(form.dataset, best ? { best: best.choice, usd: best.usd, ratio } : { best: "", usd: "", ratio: "" });
    const compared = !rival ? "" : close ? ` for now. ${other.costs} about the same` : `. ${rival.costs} ${times(ratio)} times as much`;
    const said = best ? { verdict: `${take.verb}${compared}.`, "do-this": `${take.title}: ${plain(take.usd)} ${code}, a central estimate.` } : { verdict: "Nothing here does this work in time.", "do-this": "" };
    for (const [id, text] of Object.entries(moved().length ? said : told)) at(id).textContent = text;
    document.querySelectorAll("#tiles>div dd").forEach((value, place) => {
      value.dataset.said ??= value.textContent;
      value.textContent = !moved().length ? value.dataset.said : place === 1 && above && below ? `${times(above.usd / below.usd)} ×` : "–";
    });
    document.body.classList.toggle("moved", moved().length > 0); dots(change);
    if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; lines(data, work, state, before, moved().length > 0); }); }
  }
  function dots(change) {
    const chart = document.querySelector(".dots"), axis = chart.querySelector(".axis"), STACK = 46, rows = [...chart.querySelectorAll(".row")].map((row) => {
      const by = change(row.dataset.choice), factor = Number.isFinite(by) ? by : 1;
      return { row, usd: row.dataset.usd * factor, outcomes: JSON.parse(row.dataset.outcomes).map((usd) => usd * factor) };
    });
    const DOT = 9, TALL = 66, most = Math.max(...rows.flatMap((one) => one.outcomes)) * 1.04, placed = (one, usd) => { one.style.left = `${(100 * usd) / most}%`; one.textContent = brief(usd); return one; };
    for (const { row, usd, outcomes } of rows) {
      if (!outcomes.length) { row.querySelector("em").textContent = `${brief(usd)} →`; continue; } // beyond the axis
      const places = outcomes.map((one) => Math.min(STACK, Math.floor((STACK * one) / most))), under = (n) => places.slice(0, n).filter((one) => one === places[n]).length;
      const highest = Math.max(...places.map((_, n) => under(n) + 1)), step = Math.min(DOT, TALL / highest);
      row.querySelectorAll(".field>i").forEach((dot, n) => { Object.assign(dot.style, { left: `${(100 * places[n]) / STACK}%`, bottom: `${step * under(n)}px` }); });
      row.querySelector(".field").style.height = `${Math.round(step * highest) + 20}px`;
      placed(row.querySelector("em"), usd);
    }
    const size = 10 ** Math.floor(Math.log10(most / 4)), by = [1, 2, 2.5, 5, 10].find((one) => one * size >= most / 4) * size;
    axis.replaceChildren(...[0, 1, 2, 3, 4].filter((n) => n * by <= most).map((n) => placed(made("i"), n * by)), axis.querySelector("b"));
  }
  // Evidence: the answer in words, the limits first; the order of the options, or who does the work of a plan of months.
  const worth = ({ offer, hours, usd }) => `${offer.name}: ${data.hours ? `${number(hours)} h and ` : ""}${number(usd)} ${code}`;
  function sentences({ judged, rival, gain, box, against, days, best, there, take, quickest, fastest, cheapest, fit }) {
    if (best) {
      const bought = work.sources.filter((one) => given(one.room)).flatMap((one, n) => (best.counts[n] > one.there ? [`${best.counts[n] - one.there} × ${one.offer.title}`] : []));
      const without = bought.length && Number.isFinite(there.usd) ? `; with nothing bought ${number(there.usd, 4)}` : "";
      return [Number.isFinite(best.usd) ? `${bought.join(" and ") || "Nothing bought"}: ${number(best.usd, 4)} ${code} a month${without}.` : "No mix does this work."];
    }
    if (!judged) return ["Nothing here does this work."];
    const [first, second] = gain >= 1 ? [judged, rival] : [rival, judged], said = [rival ? `${first.offer.name} is ${times(Math.max(gain, 1 / gain))} times cheaper than ${second.offer.name}` : `${judged.offer.name} is the only option`];
    if (box && against) said.push(Number.isFinite(days) ? `owning pays from ${number(days)} days of use a month` : "owning pays at no use within a month");
    const limits = [given(state.within) ? `within ${state.within} h` : "", given(state.spend) ? `for at most ${state.spend} ${code}` : ""].filter(Boolean).join(" and ");
    if (!limits) return said.map((one) => `${one.replace(/^(the|owning) /, (word) => word[0].toUpperCase() + word.slice(1))}.`);
    const quicker = take && quickest.hours < take.hours * 0.999 ? ` The fastest of ${fit.length} that do: ${worth(quickest)}.` : "";
    return [take ? `To be done ${limits}, take ${worth(take)}.${quicker}` : `Nothing is done ${limits}. The fastest is ${worth(fastest)}; the cheapest ${worth(cheapest)}.`, `Without limits ${said.join("; ")}.`];
  }
  function listed({ rows, box, judged, best }) {
    if (best) {
      const all = [true, false].flatMap((held) => work.sources.filter((one) => given(one.room) === held).map(({ offer }, n) => ({ offer, hours: (held ? best.hours : best.rented)[n] })));
      return [["option", "device-hours a month"], all.filter((one) => one.hours > 0).map(({ offer, hours }) => [{ option: offer.option, hours }, [offer.title, number(hours)]])];
    }
    const heads = ["place", "option", code, ...(data.hours ? ["hours"] : []), ...(box ? ["owning pays from, days"] : [])];
    return [heads, [...rows.filter((row) => row.fits), ...rows.filter((row) => !row.fits)].map((row, n) => [
      { option: row.offer.option, usd: row.usd, hours: row.hours, days: row.days, machines: row.machines },
      [row.fits ? n + 1 : "–", row.title, number(row.usd), ...(data.hours ? [number(row.hours)] : []), ...(box ? [!given(row.days) ? "" : row.days === 0 ? "any" : number(row.days)] : [])],
      [row === judged && "good", model.isInterruptible(row.offer) && "interruptible", !row.fits && "out"].filter(Boolean).join(" ")])];
  }
  let waiting = false, latest;
  function render() {
    for (const one of Object.values(controls)) one.show();
    if (short) { verdict(); return; }
    const found = model.answer(data, work, state), { best, there, gain, days, ...named } = found, words = sentences(found), [heads, rows] = listed(found);
    // A phone has room for the first: what holds without the limits is left out there.
    const rest = made("span", { className: given(state.within) || given(state.spend) ? "rest" : "", textContent: words.slice(1).join(" ") });
    if (says.textContent.trim() !== words.join(" ")) says.replaceChildren(`${words[0]} `, rest);
    const options = ["rival", "winner", "judged", "take"].map((key) => [key, named[key] ? named[key].offer.option : ""]);
    Object.assign(says.dataset, best ? { usd: best.usd, there: there.usd, counts: best.counts.join(",") } : { gain, days, ...Object.fromEntries(options) });
    const row = ([figures, cells, className = ""]) => { const one = made("tr", { className }, ...cells.map((textContent) => made("td", { textContent }))); Object.assign(one.dataset, figures); return one; };
    const head = made("thead", {}, made("tr", {}, ...heads.map((textContent) => made("th", { scope: "col", textContent }))));
    at("outcome").replaceChildren(made("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: "What-if ranking" }, made("table", {}, head, made("tbody", {}, ...rows.map(row)))));
    latest = work.cost === "share" ? found : null;
    if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; Object.keys(liveCharts).forEach(move); }); }
  }
  // Charts that were drawn follow; those not yet in view do when they are.
  const bands = {};
  function move(name) {
    const view = liveCharts[name], found = view && latest && series[name] && series[name](data, work, state, latest);
    if (!found) return;
    bands[name] ??= found.data.band && view.data("band").map(({ days, low, high }) => ({ days, low, high }));
    if (bands[name] && !moved().length && work === data.works[data.first]) found.data.band = bands[name];
    for (const [set, rows] of Object.entries(found.data)) view.data(set, rows);
    for (const [signal, value] of Object.entries(found.signals)) view.signal(signal, value);
    view.runAsync().then(view.tidied);
  }
  document.addEventListener("chart-drawn", (event) => move(event.detail));
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const name of ["popstate", "hashchange"]) addEventListener(name, follow);
  for (const id of ["case", "panel", "panel-note", "outcome-fold"]) if (at(id)) at(id).hidden = false;
  if (!short) at("panel-fold").open = !matchMedia("(max-width: 760px)").matches;
  follow();
})();
