"use strict";
// The panel "your case": its controls, the address that keeps what they say, and what follows them: on the page the verdict,
// its figures and the first chart, on that of evidence the order of the options and the charts. It calculates nothing.
(() => {
  const at = (id) => document.getElementById(id), source = at("case-data");
  if (!source) return;
  const { zero, given, number, times, plain } = model, data = model.unpack(JSON.parse(source.textContent)), code = data.currency;
  const form = at("case"), says = at("case-says"), outcome = at("outcome"), short = Boolean(data.choices);
  const made = (tag, fields = {}, ...children) => { const one = Object.assign(document.createElement(tag), fields); one.append(...children); return one; };

  // One entry a control of the work (report/case_controls.py): `read` of a text in the address (undefined: ignored), `show` of the
  // state in it. state[key] is null where the study's own figure holds.
  let work, controls = {}, state = {}, typing = null; // the field whose text is being typed: it is left alone
  const inRange = (low, high) => (text) => (/^-?\d{1,12}(\.\d{1,9})?$/.test(text) ? Math.min(high, Math.max(low, Number(text))) : undefined);
  const typed = (input) => { typing = input; render(); typing = null; };
  const positive = (text) => { const value = inRange(0, 1e9)(text); return value > 0 ? value : undefined; };
  const kinds = {
    range({ key, label, ends: [low, high, step], value, digits, assumed, an_hour: rates }) {
      const output = made("output"), input = made("input", { type: "range", min: low, max: high, step });
      const words = (now) => (!given(now) ? assumed : rates ? `${number(now)} (${rates.map((rate) => number(now * rate, 2)).join(" to ")} an hour)` : key.startsWith("jobs") ? plain(now) : number(now, digits));
      const show = () => {
        const now = zero(state[key], value);
        input.value = zero(now, 0); output.textContent = words(now); input.setAttribute("aria-valuetext", output.textContent);
      };
      return { input, frame: made("label", {}, label, output, input), rest: null, read: inRange(low, high), show };
    },
    limit({ key, label, unit }) {
      const input = made("input", { type: "number", min: 0, step: "any", inputMode: "decimal", placeholder: "no limit" });
      return { input, frame: made("label", { className: "limit" }, `${label} `, input, ` ${unit}`), rest: null, read: positive, show: () => { if (typing !== input) input.value = zero(state[key], ""); } };
    },
    check({ key, label }) {
      const input = made("input", { type: "checkbox" });
      return { input, frame: made("label", { className: "check" }, input, ` ${label}`), rest: data.accepts, read: (text) => ({ 1: true, 0: false })[text], show: () => { input.checked = state[key]; } };
    },
    // Jobs a week stand for days of use of the box.
    jobs({ label }) {
      const input = made("input", { type: "number", min: 0, step: "any", inputMode: "decimal" }), answer = () => model.answer(data, work, state);
      const of = (found) => (24 * 7 * (1 - zero(found.box.downtime_share)) * zero(found.judged.job.slots, 1)) / (data.month_days * found.judged.hours);
      const show = () => { const found = answer(); if (typing !== input) input.value = Number((found.box.days_per_month * of(found)).toPrecision(3)); };
      const write = (asked) => { if (asked > 0) state.days = inRange(1, data.month_days)((asked / of(answer())).toFixed(6)); };
      return { input, frame: made("label", { className: "limit" }, `${label} `, input), rest: undefined, read: positive, show, write };
    },
  };
  function build(place) {
    work = data.works[place]; controls = {};
    const more = made("details", {}, made("summary", { textContent: "Prices and interruptions" })), buttons = made("p"), select = made("select", { id: "control-work", name: "work" });
    data.works.forEach((one, n) => select.add(new Option(one.label, n)));
    select.value = place;
    select.addEventListener("change", () => { build(Number(select.value)); render(); keep(); });
    form.replaceChildren(...(data.works.length > 1 ? [made("label", { htmlFor: select.id }, "what is done ", select)] : []));
    work.controls.forEach((said, n) => {
      const one = kinds[said.kind](said), { input } = one;
      input.id = one.frame.htmlFor = one.write ? "control-jobs" : `control-${n}`; input.name = said.key;
      input.addEventListener("input", () => {
        const value = input.type === "checkbox" ? input.checked : zero(one.read(input.value), one.rest);
        if (one.write) one.write(value); else state[said.key] = value;
        typed(input);
      });
      input.addEventListener("change", keep);
      if (!one.write) state[said.key] = zero(state[said.key], one.rest);
      controls[said.key] = one;
      (said.more ? more : form).append(one.frame);
    });
    const button = (textContent, act) => { const one = made("button", { type: "button", textContent }); one.addEventListener("click", act); buttons.append(one); };
    button("Back to the study's figures", () => { state = {}; build(data.first); render(); keep(); });
    button("Copy link", () => navigator.clipboard?.writeText(location.href));
    form.append(...(more.childElementCount > 1 ? [more] : []), buttons);
    state = { interruptible: data.accepts, ...Object.fromEntries(Object.entries(state).filter(([key]) => controls[key])) };
  }
  const moved = () => Object.keys(controls).filter((key) => state[key] !== controls[key].rest);

  // The address: what differs from the study, behind what others keep there.
  const decoded = (text) => { try { return decodeURIComponent(text); } catch { return ""; } };
  const parts = () => location.hash.slice(1).split("&").filter((part) => part.includes("=")).map((part) => [part, decoded(part.slice(0, part.indexOf("="))), decoded(part.slice(part.indexOf("=") + 1))]);
  const owns = (key) => key === "work" || Object.prototype.hasOwnProperty.call(controls, key);
  function keep() {
    const text = (key) => (typeof state[key] === "boolean" ? Number(state[key]) : state[key]), chosen = work === data.works[data.first] ? [] : [["work", work.workload]];
    const mine = [...chosen, ...moved().map((key) => [key, text(key)])].map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`);
    const all = [...parts().filter(([, key]) => !owns(key)).map(([part]) => part), ...mine].join("&");
    if (all !== location.hash.slice(1) && (all || parts().length)) history.pushState(null, "", all ? `#${all}` : location.pathname + location.search);
  }
  function follow() {
    if (location.hash.length > 1 && !location.hash.includes("=")) return; // a link within the page says nothing of the figures
    const said = parts(), asked = (said.find(([, key]) => key === "work") || [])[2];
    const place = data.works.findIndex((one, n) => one.workload === asked || String(n) === asked);
    state = {}; build(place < 0 ? data.first : place);
    for (const [, key, text] of said) {
      const value = key !== "work" && owns(key) ? controls[key].read(text) : undefined;
      if (value !== undefined) state[key] = value;
    }
    render();
  }
  addEventListener("popstate", follow);
  addEventListener("hashchange", follow);

  // The page: verdict, what to do, figures, chart. Each choice's outcomes move as its central estimate does.
  const CLOSE = 1.1; // a ratio below which a central estimate tells nothing
  const COSTS = { keep: "What you have costs", rent: "Renting costs", contract: "A contract costs", buy: "Buying costs", mix: "Buying costs" };
  const VERBS = { keep: "Keep what you have", rent: "Rent by the hour", contract: "Sign the contract", buy: "Buy", mix: "Buy" };
  const told = short ? { verdict: at("verdict").textContent, "do-this": at("do-this").textContent } : {};
  const brief = (value) => (value >= 1e4 ? `${plain(value / 1e3)} k` : plain(value));
  let before;
  function verdict() {
    before = before || model.choices(data, work, {});
    const now = model.choices(data, work, state), change = Object.fromEntries(data.choices.filter((one) => now[one.choice]).map((one) => [one.choice, now[one.choice].usd / before[one.choice].usd]));
    const stands = data.choices.filter((one) => (one.stands || (state.interruptible && one.spot)) && one.choice in change && !(now[one.choice].hours > zero(state.within, Infinity)))
      .map((one) => ({ ...one, usd: one.usd * change[one.choice] })).filter((one) => Number.isFinite(one.usd)).sort((a, b) => a.usd - b.usd);
    const [best] = stands, rival = best && stands.find((one) => one.binds !== best.binds), ratio = rival ? rival.usd / best.usd : Infinity;
    const close = ratio < CLOSE, take = close && rival.rank < best.rank ? rival : best, other = take === best ? rival : best;
    Object.assign(form.dataset, best ? { best: best.choice, usd: best.usd, ratio } : { best: "", usd: "", ratio: "" });
    const said = !best ? { verdict: "Nothing here does this work in time.", "do-this": "" } : { verdict: `${VERBS[take.kind]}${!rival ? "" : close ? ` for now. ${COSTS[other.kind]} about the same` : `. ${COSTS[rival.kind]} ${times(ratio)} times as much`}.`,
      "do-this": `${take.title}: ${plain(take.usd)} ${code}, a central estimate.` };
    for (const [id, text] of Object.entries(moved().length ? said : told)) at(id).textContent = text;
    document.querySelectorAll("#tiles>div dd").forEach((value, place) => {
      value.dataset.said ??= value.textContent;
      value.textContent = !moved().length ? value.dataset.said : place === 1 && rival ? `${times(ratio)} ×` : "–";
    });
    dots(change);
  }
  function dots(change) {
    const field = document.querySelector(".dots"), STACK = 46, rows = [...field.querySelectorAll(".row")].map((row) => {
      const by = zero(change[row.dataset.choice], 1), finite = Number.isFinite(by) ? by : 1;
      return { row, usd: row.dataset.usd * finite, outcomes: JSON.parse(row.dataset.outcomes).map((usd) => usd * finite) };
    });
    const most = Math.max(...rows.flatMap((one) => one.outcomes)) * 1.04, heights = () => new Array(STACK + 1).fill(0);
    for (const { row, usd, outcomes } of rows) {
      const high = heights(), middle = row.querySelector("em");
      row.querySelectorAll(".field>i").forEach((dot, n) => {
        const place = Math.min(STACK, Math.floor((STACK * outcomes[n]) / most));
        Object.assign(dot.style, { left: `${(100 * place) / STACK}%`, bottom: `${9 * high[place]++}px` });
      });
      row.querySelector(".field").style.height = `${9 * Math.max(...high) + 20}px`;
      middle.style.left = `${(100 * usd) / most}%`; middle.textContent = brief(usd);
    }
    const size = 10 ** Math.floor(Math.log10(most / 4)), by = [1, 2, 2.5, 5, 10].find((one) => one * size >= most / 4) * size, axis = field.querySelector(".axis");
    axis.replaceChildren(...[0, 1, 2, 3, 4].filter((n) => n * by <= most).map((n) => {
      const tick = made("i", { textContent: brief(n * by) });
      tick.style.left = `${(100 * n * by) / most}%`;
      return tick;
    }), axis.querySelector("b"));
  }

  // Evidence: the answer in words (the limits first), the order of the options, the charts of a job.
  const worth = (row) => `${data.hours ? `${number(row.hours)} h and ` : ""}${number(row.usd)} ${code}`;
  const begun = (sentence) => sentence.replace(/^(the|owning) /, (word) => word[0].toUpperCase() + word.slice(1));
  function limits(found) {
    const said = [given(state.within) ? `within ${state.within} h` : "", given(state.spend) ? `for at most ${state.spend} ${code}` : ""].filter(Boolean).join(" and ");
    if (!said) return "";
    if (found.take) {
      const quicker = found.quickest !== found.take && found.quickest.hours < found.take.hours * 0.999;
      return `To be done ${said}, take ${found.take.offer.name}: ${worth(found.take)}.${quicker ? ` The fastest of ${found.fit.length} that do: ${found.quickest.offer.name}, ${worth(found.quickest)}.` : ""}`;
    }
    const late = given(state.within) && found.fastest.hours > state.within, dear = given(state.spend) && found.cheapest.usd > state.spend;
    return `Nothing is done ${said}: ${late ? `the fastest, ${found.fastest.offer.name}, takes ${number(found.fastest.hours)} h`
      : dear ? `the cheapest, ${found.cheapest.offer.name}, costs ${number(found.cheapest.usd)} ${code}` : "what is fast enough costs more, and what costs less takes longer"}.`;
  }
  function sentences(found) {
    if (found.best) {
      const bought = work.sources.filter((one) => given(one.room)).flatMap((one, n) => (found.best.counts[n] > one.there ? [`${found.best.counts[n] - one.there} × ${one.offer.title}`] : []));
      return [!Number.isFinite(found.best.usd) ? "No mix does this work." : `${bought.join(" and ") || "Nothing bought"}: ${number(found.best.usd, 4)} ${code} a month${bought.length && Number.isFinite(found.there.usd) ? `; with nothing bought ${number(found.there.usd, 4)}` : ""}.`];
    }
    const { judged, rival, gain } = found, [first, second] = gain >= 1 ? [judged, rival] : [rival, judged], asked = limits(found);
    if (!judged) return ["Nothing here does this work."];
    const said = [!rival ? `${judged.offer.name} is the only option` : `${first.offer.name} is ${times(gain >= 1 ? gain : 1 / gain)} times cheaper than ${second.offer.name}`];
    if (found.box && found.against) said.push(Number.isFinite(found.days) ? `owning pays from ${number(found.days)} days of use a month` : "owning pays at no use within a month");
    return asked ? [asked, `Without limits ${said.join("; ")}.`] : said.map((one) => `${begun(one)}.`);
  }
  // The rows of the table: the options, those within the limits first; of a plan of months who does its work.
  function rowsOf(found) {
    if (found.best) {
      const held = work.sources.filter((one) => given(one.room)), hired = work.sources.filter((one) => !given(one.room));
      const all = [...held.map((one, n) => [one, found.best.hours[n]]), ...hired.map((one, n) => [one, found.best.rented[n]])].filter(([, hours]) => hours > 0);
      return [["option", "device-hours a month"], all.map(([one, hours]) => [{ option: one.offer.option, hours }, [one.offer.title, number(hours)], ""])];
    }
    const ordered = [...found.rows.filter((row) => row.fits), ...found.rows.filter((row) => !row.fits)], days = (row) => (row.days === null ? "" : row.days === 0 ? "any" : number(row.days));
    return [["place", "option", code, ...(data.hours ? ["hours"] : []), ...(found.box ? ["owning pays from, days"] : [])], ordered.map((row, n) => [
      { option: row.offer.option, usd: row.usd, hours: row.hours, ...(work.cost === "share" ? { days: row.days } : { machines: row.machines }) },
      [row.fits ? n + 1 : "–", row.title, number(row.usd), ...(data.hours ? [number(row.hours)] : []), ...(found.box ? [days(row)] : [])],
      [row === found.judged ? "good" : "", model.isInterruptible(row.offer) ? "interruptible" : "", row.fits ? "" : "out"].join(" ").trim(),
    ])];
  }
  const bands = {};
  let waiting = false, latest;
  function render() {
    for (const one of Object.values(controls)) one.show();
    if (short) { verdict(); return; }
    const found = model.answer(data, work, state), [words, ...others] = sentences(found), [heads, rows] = rowsOf(found), text = [words, ...others].join(" ");
    // A phone has room for the first: what holds without the limits is left out there.
    if (says.textContent.trim() !== text) says.replaceChildren(`${words} `, made("span", { className: given(state.within) || given(state.spend) ? "rest" : "", textContent: others.join(" ") }));
    const option = (row) => (row ? row.offer.option : ""), { judged, rival, winner, take } = found;
    Object.assign(says.dataset, found.best ? { usd: found.best.usd, there: found.there.usd, counts: found.best.counts.join(",") }
      : { gain: found.gain, days: found.days, rival: option(rival), winner: option(winner), judged: option(judged), take: option(take) });
    const head = made("thead", {}, made("tr", {}, ...heads.map((textContent) => made("th", { scope: "col", textContent }))));
    const frame = made("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: "What-if ranking" }, made("table", {}, head, made("tbody", {}, ...rows.map(([figures, cells, className]) => {
      const row = made("tr", { className }, ...cells.map((textContent) => made("td", { textContent })));
      Object.assign(row.dataset, figures);
      return row;
    }))));
    outcome.replaceChildren(frame);
    latest = work.cost === "share" ? found : null;
    if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; Object.keys(liveCharts).forEach(move); }); }
  }
  // Charts that were drawn: those not yet in view follow when they are.
  function move(name) {
    const view = liveCharts[name], made = view && latest && series[name] && series[name](data, work, state, latest);
    if (!made) return;
    if (made.data.band) {
      bands[name] = bands[name] || view.data("band").map(({ days, low, high }) => ({ days, low, high }));
      if (!moved().length && work === data.works[data.first]) made.data.band = bands[name];
    }
    for (const [set, rows] of Object.entries(made.data)) view.data(set, rows);
    for (const [signal, value] of Object.entries(made.signals)) view.signal(signal, value);
    view.runAsync().then(view.tidied);
  }
  document.addEventListener("chart-drawn", (event) => move(event.detail));

  form.addEventListener("submit", (event) => event.preventDefault());
  for (const id of ["case", "panel", "panel-note", "outcome-fold"]) if (at(id)) at(id).hidden = false;
  if (at("panel-fold")) at("panel-fold").open = !matchMedia("(max-width: 760px)").matches;
  follow();
  if (!work) { build(data.first); render(); }
})();
