"use strict";
// The control panel: its controls, the address that keeps what they say, and what follows them. It calculates nothing.
(() => {
  const source = document.getElementById("whatif-data");
  if (!source) return;
  const { zero, given } = whatIfModel, { number } = whatIfSeries;
  const data = whatIfModel.unpack(JSON.parse(source.textContent));
  const at = (id) => document.getElementById(id);
  const form = at("sliders"), outcome = at("outcome"), says = at("whatif-says"), fold = at("panel-fold");
  const box = data.offers.find((one) => one.option === data.references[data.model] && one.purchase === "own");
  const made = (tag, fields = {}, ...children) => {
    const one = Object.assign(document.createElement(tag), fields);
    one.append(...children);
    return one;
  };

  // One entry a control: its key in the address, `read` of a text there (undefined: ignored), `show` of the state in it.
  // state[key] is null where the study's own figure holds.
  const controls = {}, state = {};
  let typing = null; // the field whose text is being typed: it is left alone
  const inRange = (low, high) => (text) => (/^-?\d{1,12}(\.\d{1,9})?$/.test(text) ? Math.min(high, Math.max(low, Number(text))) : undefined);
  function control(key, frame, input, rest, read, show) {
    input.id = `control-${Object.keys(controls).length}`; input.name = key; frame.htmlFor = input.id;
    controls[key] = { input, rest, read, show };
    state[key] = rest;
    input.addEventListener("input", () => {
      state[key] = input.type === "checkbox" ? input.checked : zero(read(input.value), rest);
      typed(input);
    });
    input.addEventListener("change", keep);
    return frame;
  }
  function slider(key, label, [low, high, step], value, show, parent = form) {
    const output = made("output"), input = made("input", { type: "range", min: low, max: high, step });
    parent.append(control(key, made("label", {}, label, output, input), input, null, inRange(low, high), () => {
      const now = zero(state[key], value);
      input.value = zero(now, 0);
      output.textContent = show(now);
      input.setAttribute("aria-valuetext", output.textContent);
    }));
  }
  function limit(key, label, unit) {
    const input = made("input", { type: "number", min: 0, step: "any", inputMode: "decimal", placeholder: "no limit" });
    const read = (text) => { const value = inRange(0, 1e9)(text); return value > 0 ? value : undefined; };
    const frame = control(key, made("label", { className: "limit" }, `${label} `, input, ` ${unit}`), input, null, read, () => {
      if (typing !== input) input.value = zero(state[key], "");
    });
    form.append(frame);
  }

  function workControl() {
    const input = made("select");
    const models = new Set(data.works.map((work) => work.model)), alone = models.size === data.works.length;
    data.works.forEach((work, place) => input.add(new Option(alone ? work.model : `${work.model}: ${work.title}`, place)));
    const place = (text) => data.works.findIndex((work, one) => work.workload === text || String(one) === text);
    const frame = control("work", made("label", {}, "what is done ", input), input, data.first,
      (text) => { const found = place(text); return found < 0 ? undefined : found; }, () => { input.value = state.work; });
    if (data.works.length > 1) form.append(frame);
  }
  function jobsControl() {
    const input = made("input", { type: "number", min: 0, step: "any", id: "control-jobs", inputMode: "decimal" });
    form.append(made("label", { className: "limit", htmlFor: "control-jobs" }, "or jobs a week ", input));
    const of = (found) => (24 * 7 * (1 - zero(found.box.downtime_share)) * zero(found.judged.job.slots, 1)) / (data.month_days * found.judged.hours);
    input.addEventListener("input", () => {
      const asked = inRange(0, 1e9)(input.value), found = whatIfModel.answer(data, state);
      if (asked > 0 && found.box) { state.days = inRange(1, data.month_days)((asked / of(found)).toFixed(6)); typed(input); }
    });
    input.addEventListener("change", keep);
    return (found) => { if (found.box && typing !== input) input.value = Number((found.box.days_per_month * of(found)).toPrecision(3)); };
  }

  workControl();
  if (data.hours) limit("within", "finish within", "hours");
  limit("spend", "spend at most", data.currency);
  const away = data.offers.filter(whatIfModel.isInterruptible);
  {
    const input = made("input", { type: "checkbox" });
    const flag = (text) => (text === "1" ? true : text === "0" ? false : undefined);
    const frame = control("interruptible", made("label", { className: "check" }, input, " interruptible machines allowed"), input, data.accepts, flag,
      () => { input.checked = state.interruptible; });
    if (away.length) form.append(frame);
  }
  let showJobs = () => {};
  if (box) {
    slider("days", "days of use a month", [1, data.month_days, 0.5], box.days_per_month, (v) => number(v));
    showJobs = jobsControl();
    slider("months", "months of the project", [3, 72, 1], box.months, (v) => number(v, 2));
    if (box.kw > 0) slider("kwh", `electricity, ${data.currency}/kWh`, [0, 1, 0.01], zero(box.usd_per_kwh), (v) => number(v));
    // Not below what it is sold for.
    const least = Math.max(0.2 * box.capex_usd, box.resale && box.resale.length ? 0 : zero(box.residual_usd));
    const span = [Math.ceil(least), Math.ceil(3 * box.capex_usd), Math.max(1, Math.round(box.capex_usd / 100))];
    slider("price", `price of ${box.name}, ${data.currency}`, span, box.capex_usd, (v) => number(v, 4));
    const changes = data.offers.map((o) => o.rent_change).filter(given);
    const ends = [...new Set([Math.min(...changes), Math.max(...changes)])].map((g) => number(100 * g, 2));
    if (changes.length) slider("rent", "rental prices change a year, %", [-60, 60, 1], null, (v) => (given(v) ? number(v, 2) : `as assumed (${ends.join(" to ")})`));
  }
  const more = made("details", {}, made("summary", { textContent: "Prices and interruptions" }));
  const asToday = (v) => number(v);
  if (away.length) slider("spot-price", "spot prices, times today's", [0.2, 3, 0.05], 1, asToday, more);
  const rates = away.map((o) => zero(o.interruptions_per_hour)).filter((rate) => rate > 0);
  if (rates.length) {
    const ends = [...new Set([Math.min(...rates), Math.max(...rates)])];
    slider("spot-rate", "interruptions, times today's", [0, 10, 0.1], 1, (v) => `${number(v)} (${ends.map((rate) => number(v * rate, 2)).join(" to ")} an hour)`, more);
  }
  const providers = [...new Set(data.offers.filter((o) => o.purchase !== "own").map((o) => o.provider))];
  for (const name of providers) slider(`provider:${name}`, `prices of ${(data.providers ?? {})[name] ?? name}, times today's`, [0.2, 3, 0.05], 1, asToday, more);
  const reset = made("button", { type: "button", textContent: "Back to the study's figures" });
  reset.addEventListener("click", () => { rest(); render(); keep(); });
  form.append(more, reset);
  form.addEventListener("submit", (event) => event.preventDefault());

  const rest = () => { for (const key of Object.keys(controls)) state[key] = controls[key].rest; };
  const moved = () => Object.keys(controls).filter((key) => state[key] !== controls[key].rest);
  const inputs = () => ({ ...state, spotPrice: state["spot-price"], spotRate: state["spot-rate"],
    providers: Object.fromEntries(providers.map((name) => [name, state[`provider:${name}`]])) });

  // The address: what differs from the study, behind what others keep there.
  const parts = () => location.hash.slice(1).split("&").filter((part) => part.includes("="));
  const keyOf = (part) => { try { return decodeURIComponent(part.slice(0, part.indexOf("="))); } catch { return ""; } };
  const valueOf = (part) => { try { return decodeURIComponent(part.slice(part.indexOf("=") + 1)); } catch { return ""; } };
  const owns = (key) => Object.prototype.hasOwnProperty.call(controls, key);
  const text = (key) => (key === "work" ? data.works[state.work].workload : state[key] === true ? "1" : state[key] === false ? "0" : String(state[key]));
  function keep() {
    const mine = moved().map((key) => `${encodeURIComponent(key)}=${encodeURIComponent(text(key))}`);
    const all = [...parts().filter((part) => !owns(keyOf(part))), ...mine].join("&");
    const address = all ? `#${all}` : location.pathname + location.search;
    if (all !== location.hash.slice(1) && (all || parts().length)) history.pushState(null, "", address);
  }
  function follow() {
    // A link within the page says nothing of the figures.
    if (location.hash.length > 1 && !location.hash.includes("=")) return;
    rest();
    for (const part of parts()) {
      const key = keyOf(part), value = owns(key) ? controls[key].read(valueOf(part)) : undefined;
      if (value !== undefined) state[key] = value;
    }
    render();
  }
  window.addEventListener("popstate", follow);
  window.addEventListener("hashchange", follow);

  // What follows.
  const columns = [["place", "place"], ["option", "option"], ["usd", data.currency], ...(data.hours ? [["hours", "hours"]] : []), ...(box ? [["days", "owning pays from, days"]] : [])];
  const head = made("tr", {}, ...columns.map(([, name]) => made("th", { scope: "col", textContent: name })));
  const body = made("tbody"), frame = made("div", { className: "scroll", tabIndex: 0 }, made("table", {}, made("thead", {}, head), body));
  frame.setAttribute("role", "region"); frame.setAttribute("aria-label", "What-if ranking");
  outcome.append(frame);
  function line(row, place, found) {
    const cells = { place, option: row.offer.title, usd: number(row.usd), hours: number(row.hours), days: row.days === null ? "" : row.days === 0 ? "any" : number(row.days) };
    const one = made("tr", {}, ...columns.map(([name]) => made("td", { textContent: cells[name] })));
    one.className = [row === found.judged ? "good" : "", whatIfModel.isInterruptible(row.offer) ? "interruptible" : "", row.fits ? "" : "out"].join(" ").trim();
    Object.assign(one.dataset, { option: row.offer.option, usd: row.usd, hours: row.hours, days: row.days });
    return one;
  }
  function typed(input) {
    typing = input;
    render();
    typing = null;
  }
  let waiting = false, latest;
  function render() {
    const asked = inputs(), found = whatIfModel.answer(data, asked);
    latest = { asked, found };
    for (const one of Object.values(controls)) one.show();
    showJobs(found);
    // A phone has room for the first: what holds without the limits is left out there.
    const [first, ...others] = whatIfSeries.sentences(data, asked, found), limited = given(asked.within) || given(asked.spend);
    const words = [first, ...others].join(" ");
    if (says.textContent !== words) says.replaceChildren(`${first} `, made("span", { className: limited ? "rest" : "", textContent: others.join(" ") }));
    const option = (row) => (row ? row.offer.option : "");
    Object.assign(says.dataset, { gain: found.gain, days: found.days, rival: option(found.rival), winner: option(found.winner), judged: option(found.judged), take: option(found.take) });
    let place = 0;
    const ordered = [...found.rows.filter((row) => row.fits), ...found.rows.filter((row) => !row.fits)];
    body.replaceChildren(...ordered.map((row) => line(row, row.fits ? (place += 1) : "–", found)));
    if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; for (const name of Object.keys(liveCharts)) move(name); }); }
  }
  // Charts that were drawn: those not yet in view follow when they are.
  const bands = {};
  function move(name) {
    if (!liveCharts[name]) return;
    const view = liveCharts[name], make = whatIfSeries.charts[name], series = make && make(data, latest.asked, latest.found);
    if (!series) return;
    if (series.data.band) {
      bands[name] = bands[name] || view.data("band").map(({ days, low, high }) => ({ days, low, high }));
      if (!moved().length) series.data.band = bands[name];
    }
    for (const [set, rows] of Object.entries(series.data)) view.data(set, rows);
    for (const [signal, value] of Object.entries(series.signals)) view.signal(signal, value);
    view.runAsync().then(view.tidied);
  }
  document.addEventListener("chart-drawn", (event) => move(event.detail));

  for (const id of ["panel", "panel-note", "outcome-fold"]) at(id).hidden = false;
  fold.open = !matchMedia("(max-width: 760px)").matches;
  rest();
  follow();
  if (!says.textContent) render();
})();
