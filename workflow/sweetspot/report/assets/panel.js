"use strict";
// The panel "your case": its controls, the address that keeps what they say, and what follows them: on the page the verdict,
// its figures and the charts, on that of evidence the order of the options. It calculates nothing.
(() => {
  const at = (id) => document.getElementById(id), source = at("case-data");
  if (!source) return;
  const { zero, given, number, times, plain } = model, data = model.unpack(JSON.parse(source.textContent)), code = data.currency;
  const form = at("case"), says = at("case-says"), short = Boolean(data.choices);
  const made = (tag, fields = {}, ...children) => { const one = Object.assign(document.createElement(tag), fields); one.append(...children); return one; };
  let next = null; // what is drawn with the coming frame: the latest alone
  const soon = (act) => { if (!next) requestAnimationFrame(() => { const latest = next; next = null; latest(); }); next = act; };
  // One entry a control of the work (report/case_controls.py): `read` of a text in the address (undefined: ignored), `show` of
  // the state in it. state[key] is null where the study's own figure holds. `typing`: the field that is typed in is left alone.
  let work, controls = {}, state = {}, typing = null;
  const inRange = (low, high) => (text) => (/^-?\d{1,12}(\.\d{1,9})?$/.test(text) ? Math.min(high, Math.max(low, Number(text))) : undefined);
  const positive = (text) => inRange(0, 1e9)(text) || undefined;
  const field = (input, { label, unit = "" }, placeholder, value) => ({ read: positive, rest: null, show: () => { if (typing !== input) input.value = value(); },
    frame: made("label", { className: "limit" }, `${label} `, Object.assign(input, { type: "number", min: 0, step: "any", inputMode: "decimal", placeholder }), ` ${unit}`) });
  const kinds = {
    range(input, { key, label, ends: [min, max, step], value, digits, assumed, told: by }) {
      const output = made("output"), show = () => {
        const now = zero(state[key], value), told = key.startsWith("jobs") ? plain(now) : number(now, digits);
        output.textContent = !given(now) ? assumed : by ? by.map((figure) => number(now * figure)).join(" to ") : told;
        input.value = zero(now, 0); input.setAttribute("aria-valuetext", output.textContent);
      };
      return { frame: made("label", {}, label, output, Object.assign(input, { type: "range", min, max, step })), rest: null, read: inRange(min, max), show };
    },
    limit: (input, said) => field(input, said, "no limit", () => zero(state[said.key], "")),
    check: (input, { key, label }) => ({ frame: made("label", { className: "check" }, Object.assign(input, { type: "checkbox" }), ` ${label}`), rest: data.accepts, read: (text) => ({ 1: true, 0: false })[text], show: () => { input.checked = state[key]; } }),
    // Jobs a week stand for days of use of the box.
    jobs(input, said) {
      const aDay = ({ box, judged }) => (24 * 7 * (1 - zero(box.downtime_share)) * zero(judged.job.slots, 1)) / (data.month_days * judged.hours), found = () => model.answer(data, work, state);
      const write = (jobs) => { if (jobs > 0) state.days = inRange(1, data.month_days)((jobs / aDay(found())).toFixed(6)); };
      return { ...field(input, said, "", () => { const now = found(); return Number((now.box.days_per_month * aDay(now)).toPrecision(3)); }), rest: undefined, write };
    },
  };
  function build(place) {
    const more = made("details", {}, made("summary", { textContent: short ? "More" : "Prices and interruptions" })), select = made("select", { id: "control-work", name: "work" });
    const button = (textContent, act) => { const one = made("button", { type: "button", textContent }); one.addEventListener("click", act); return one; };
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
    const back = button("Back to the study's figures", () => { state = {}; build(data.first); render(); keep(); });
    form.append(...(more.childElementCount > 1 ? [more] : []), made("p", {}, back, button("Copy link", () => navigator.clipboard?.writeText(location.href))));
    state = { interruptible: zero(state.interruptible, data.accepts), ...Object.fromEntries(Object.entries(controls).filter(([, one]) => !one.write).map(([key, one]) => [key, zero(state[key], one.rest)])) };
  }
  const moved = () => Object.keys(controls).filter((key) => state[key] !== controls[key].rest);
  // The address: what differs from the study, behind what others keep there.
  const parts = () => [...new URLSearchParams(location.hash.slice(1))].filter(([key, value]) => key && value);
  const owns = (key) => key === "work" || Object.hasOwn(controls, key);
  function keep() {
    const mine = [...(work === data.works[data.first] ? [] : [["work", work.workload]]), ...moved().map((key) => [key, Number(state[key])])];
    const all = String(new URLSearchParams([...parts().filter(([key]) => !owns(key)), ...mine]));
    if (all !== location.hash.slice(1) && (all || parts().length)) history.pushState(null, "", all ? `#${all}` : location.pathname + location.search);
  }
  function follow() {
    if (work && location.hash.length > 1 && !location.hash.includes("=")) return; // a link within the page says nothing of the figures
    const said = parts(), asked = new Map(said).get("work"), place = data.works.findIndex((one, n) => one.workload === asked || String(n) === asked);
    state = {}; build(place < 0 ? data.first : place);
    for (const [key, text] of said) {
      const value = Object.hasOwn(controls, key) && !controls[key].write ? controls[key].read(text) : undefined;
      if (value !== undefined) state[key] = value;
    }
    render();
  }
  // The page: verdict, what to do, figures, charts.
  const CLOSE = 1.1; // a ratio below which a central estimate tells nothing
  const told = short ? { verdict: at("verdict").textContent, "do-this": at("do-this").textContent } : {};
  function verdict() {
    const all = pictures.found(data, work, state), [best] = all.filter((one) => one.stands), [above, below] = data.ratio.map((commitment) => pictures.first(all, commitment));
    const rival = best && all.find((one) => one.stands && one.commitment !== best.commitment), ratio = rival ? rival.usd / best.usd : Infinity, changed = moved().length > 0;
    const close = ratio < CLOSE, take = close && rival.rank < best.rank ? rival : best, other = take === best ? rival : best;
    Object.assign(form.dataset, best ? { best: best.choice, usd: best.usd, ratio } : { best: "", usd: "", ratio: "" });
    const compared = !rival ? "" : close ? ` for now. ${other.costs} about the same` : `. ${rival.costs} ${times(ratio)} times as much`;
    const said = best ? { verdict: `${take.verb}${compared}.`, "do-this": `${take.title[0].toUpperCase()}${take.title.slice(1)}: ${plain(take.usd)} ${code}, a central estimate.` } : { verdict: "Nothing here does this work in time.", "do-this": "" };
    for (const [id, text] of Object.entries(changed ? said : told)) at(id).textContent = text;
    document.querySelectorAll("#tiles>div dd").forEach((value, place) => {
      value.dataset.said ??= value.textContent;
      value.textContent = !changed ? value.dataset.said : place === 1 && above && below ? `${times(above.usd / below.usd)} ×` : "–";
    });
    document.body.classList.toggle("moved", changed);
    pictures.dots(Object.fromEntries(all.map(({ choice, by }) => [choice, by])));
    soon(() => pictures.follow(data, work, state, all, changed));
  }
  // Evidence: the answer in words, the limits first; the order of the options, or who does the work of a plan of months.
  const worth = ({ offer, hours, usd }) => `${offer.name}: ${data.hours ? `${number(hours)} h and ` : ""}${number(usd)} ${code}`;
  function sentences({ judged, rival, gain, box, against, days, take, quickest, fastest, cheapest, fit }) {
    if (!judged) return ["Nothing here does this work."];
    const [first, second] = gain >= 1 ? [judged, rival] : [rival, judged], said = [rival ? `${first.offer.name} is ${times(Math.max(gain, 1 / gain))} times cheaper than ${second.offer.name}` : `${judged.offer.name} is the only option`];
    if (box && against) said.push(Number.isFinite(days) ? `owning pays from ${number(days)} days of use a month` : "owning pays at no use within a month");
    const limits = [given(state.within) ? `within ${state.within} h` : "", given(state.spend) ? `for at most ${state.spend} ${code}` : ""].filter(Boolean).join(" and ");
    if (!limits) return said.map((one) => `${one.replace(/^(the|owning) /, (word) => word[0].toUpperCase() + word.slice(1))}.`);
    const quicker = take && quickest.hours < take.hours * 0.999 ? ` The fastest of ${fit.length} that do: ${worth(quickest)}.` : "";
    return [take ? `To be done ${limits}, take ${worth(take)}.${quicker}` : `Nothing is done ${limits}. The fastest is ${worth(fastest)}; the cheapest ${worth(cheapest)}.`, `Without limits ${said.join("; ")}.`];
  }
  function listed({ rows, box, judged }) {
    const heads = ["place", "option", code, ...(data.hours ? ["hours"] : []), ...(box ? ["owning pays from, days"] : [])];
    return [heads, [...rows.filter((row) => row.fits), ...rows.filter((row) => !row.fits)].map((row, n) => [
      { option: row.offer.option, usd: row.usd, hours: row.hours, days: row.days, machines: row.machines },
      [row.fits ? n + 1 : "–", row.title, number(row.usd), ...(data.hours ? [number(row.hours)] : []), ...(box ? [!given(row.days) ? "" : row.days === 0 ? "any" : number(row.days)] : [])],
      [row === judged && "good", model.isInterruptible(row.offer) && "interruptible", !row.fits && "out"].filter(Boolean).join(" ")])];
  }
  function render() {
    for (const one of Object.values(controls)) one.show();
    if (short) { verdict(); return; }
    const found = model.answer(data, work, state), { gain, days, ...named } = found, words = sentences(found), [heads, rows] = listed(found);
    // A phone has room for the first: what holds without the limits is left out there.
    const rest = made("span", { className: given(state.within) || given(state.spend) ? "rest" : "", textContent: words.slice(1).join(" ") });
    if (says.textContent.trim() !== words.join(" ")) says.replaceChildren(`${words[0]} `, rest);
    const options = ["rival", "winner", "judged", "take"].map((key) => [key, named[key] ? named[key].offer.option : ""]);
    Object.assign(says.dataset, { gain, days, ...Object.fromEntries(options) });
    const cells = (tag, texts, more) => texts.map((textContent) => made(tag, { textContent, ...more }));
    const body = rows.map(([figures, texts, className = ""]) => { const one = made("tr", { className }, ...cells("td", texts)); Object.assign(one.dataset, figures); return one; });
    const table = made("table", {}, made("thead", {}, made("tr", {}, ...cells("th", heads, { scope: "col" }))), made("tbody", {}, ...body));
    at("outcome").replaceChildren(made("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: "What-if ranking" }, table));
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const name of ["popstate", "hashchange"]) addEventListener(name, follow);
  for (const id of ["case", "panel", "panel-note", "outcome-fold"]) if (at(id)) at(id).hidden = false;
  if (!short) at("panel-fold").open = !matchMedia("(max-width: 760px)").matches;
  follow();
})();
