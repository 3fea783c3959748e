"use strict";
// Rows and titles of the charts that follow the control panel, and its sentences, from what whatIfModel found: pure
// functions. The same rows as report/charts/front.py, utilisation.py and cash_flow.py draw at the study's own figures.
const whatIfSeries = (() => {
  const { zero, given, hourAt, meanRent, rentChange, isInterruptible } = whatIfModel;
  const WIDTH = 400, HEIGHT = 230, ROOM = 18, NEAR = 15, DEAR = 20, LINES = 7, ABOVE = 1.6, STEPS = 60, BOUND = 1e9;
  const TITLE = 62;

  // One formatter for each number of places: making one takes longer than all else that an answer needs.
  const formats = Array.from({ length: 7 }, (_, places) => new Intl.NumberFormat("en-US", { minimumFractionDigits: places, maximumFractionDigits: places }));
  const digits = (value, places) => formats[places].format(value);
  const number = (value, wanted = 3) => {
    if (!Number.isFinite(value)) return "never";
    return value === 0 ? "0" : digits(value, Math.max(0, Math.min(6, wanted - 1 - Math.floor(Math.log10(Math.abs(value))))));
  };
  const times = (value) => (value >= 10 ? digits(value, 0) : digits(value, Math.abs(value - 1) < 0.1 ? 2 : value >= 1 ? 1 : 2));
  const money = (value) => (value >= 100 ? digits(value, 0) : value >= 10 ? digits(value, 1) : value >= 0.1 ? digits(value, 2) : number(value, 2));
  const begun = (sentence) => sentence.replace(/^(the|owning) /, (word) => word[0].toUpperCase() + word.slice(1));
  const wrapped = (text) => {
    const lines = [""];
    for (const word of text.split(" ")) {
      const line = `${lines[lines.length - 1]} ${word}`.trim();
      if (line.length <= TITLE || !lines[lines.length - 1]) lines[lines.length - 1] = line;
      else lines.push(word);
    }
    return lines;
  };

  // Hours against money.
  const beats = (a, b) => a.hours <= b.hours && a.usd <= b.usd && (a.hours < b.hours || a.usd < b.usd);
  const logEnds = (values, size) => {
    const low = Math.log(Math.min(...values)), high = Math.log(Math.max(...values));
    const around = high > low ? ((high - low) * ROOM) / (size - 2 * ROOM) : Math.log(2);
    return [Math.exp(low - around), Math.exp(high + around)];
  };
  const logTicks = ([low, high]) => {
    const found = [];
    for (let power = -9; power < 10; power += 1)
      for (const step of high < 4 * low ? [1, 1.5, 2, 3, 5, 7] : [1, 2, 5]) {
        const tick = step * 10 ** power;
        if (tick >= low && tick <= high) found.push(tick);
      }
    return found;
  };
  const numbers = (places) => {
    const last = places[places.length - 1];
    return places.length > 2 && last - places[0] === places.length - 1 ? `${places[0]} to ${last}` : places.join(", ");
  };
  function marked(found, xs, ys) {
    const pixel = (value, [low, high], size) => (size * Math.log(value / low)) / Math.log(high / low);
    const firsts = [];
    found.forEach((row, place) => {
      const at = [pixel(row.hours, xs, WIDTH), pixel(row.usd, ys, HEIGHT)];
      const near = firsts.find((one) => Math.hypot(one.at[0] - at[0], one.at[1] - at[1]) < NEAR);
      if (near) near.places.push(place + 1);
      else firsts.push({ at, places: [place + 1] });
    });
    return found.map((_, place) => numbers((firsts.find((one) => one.places[0] === place + 1) || { places: [] }).places));
  }
  function front(data, inputs, found) {
    const rows = found.rows.filter((row) => row.hours > 0 && row.usd > 0 && Number.isFinite(row.usd) && Number.isFinite(row.hours));
    const known = rows.some((row) => row.allowed) ? rows.filter((row) => row.allowed) : rows;
    const judged = found.judged.offer.option === data.references[data.works[inputs.work].model] ? found.judged : null;
    const least = Math.min(...known.map((row) => row.usd));
    const box = data.offers.find((one) => one.option === data.references[data.model]);
    const shown = rows.map((row) => {
      const beaten = known.some((other) => beats(other, row)), offer = row.offer;
      return {
        option: offer.option, label: offer.title.replace(/ \[.*\]$/, ""), hours: row.hours, usd: row.usd, fits: row.fits,
        on_front: !beaten && known.includes(row), beaten, judged: row === judged, allowed: row.allowed,
        kind: row === judged ? zero(box, offer).title : data.kinds[isInterruptible(offer) ? 1 : 0],
        basis: data.bases[row.job.basis], source: data.sources[row.job.source], as_of: data.dates[row.job.as_of],
      };
    }).filter((row) => row.on_front || row.judged || (row.usd <= DEAR * least && (row.allowed || !row.beaten)));
    shown.sort((a, b) => a.usd - b.usd || (a.option < b.option ? -1 : 1));
    const [xs, ys] = [logEnds(shown.map((row) => row.hours), WIDTH), logEnds(shown.map((row) => row.usd), HEIGHT)];
    const named = shown.filter((row) => row.on_front || row.judged).sort((a, b) => a.hours - b.hours || a.usd - b.usd)
      .filter((row, place, all) => !all.slice(0, place).some((one) => one.label === row.label && one.hours === row.hours && one.usd === row.usd));
    const marks = marked(named, xs, ys);
    const keys = named.slice(0, LINES).map((row, place) => ({ hours: row.hours, usd: row.usd, mark: marks[place], line: place,
      told: `${place + 1}  ${row.label}: ${number(row.hours)} h, ${number(row.usd)} ${data.currency}` }));
    const limited = given(inputs.within) || given(inputs.spend);
    const limits = limited ? [{ hours: zero(inputs.within, BOUND), usd: zero(inputs.spend, BOUND) }] : [];
    const kinds = [...data.kinds, zero(box, {}).title].filter((kind, place, all) => all.indexOf(kind) === place && shown.some((row) => row.kind === kind));
    const best = shown.filter((row) => row.on_front).length, model = data.works[inputs.work].model;
    const says = limited ? `${model}: ${found.fit.length} of ${found.pool.length} options keep within the limits`
      : `${model}: ${best} option${best === 1 ? " is" : "s are"} beaten by none in both time and money`;
    return { data: { rows: shown, keys, limits }, signals: { x0: xs[0], x1: xs[1], y0: ys[0], y1: ys[1], xticks: logTicks(xs), yticks: logTicks(ys), kinds, says: wrapped(says) } };
  }

  // What the work costs by days of use.
  const costAt = (found, days) => (found.judged.usd * hourAt(found.box, days)) / found.box.hour;
  const paysFrom = (days) => (Number.isFinite(days) ? `the box pays from ${number(days, 2)} d` : "cheaper at any use");
  function rivals(found) {
    const hired = found.rows.filter((row) => row.offer.purchase !== "own").sort((a, b) => b.perUsd - a.perUsd);
    return [...hired.filter((row) => row.allowed).slice(0, 3), ...hired.filter((row) => !row.allowed).slice(0, 1)];
  }
  function byDays(data, inputs, found) {
    if (!found.box) return null;
    const shown = rivals(found), own = found.judged, month = data.month_days, planned = found.box.days_per_month;
    const top = ABOVE * Math.max(costAt(found, planned), ...shown.map((row) => row.usd));
    const rows = Array.from({ length: STEPS }, (_, step) => {
      const days = (month * (step + 1)) / STEPS;
      return { slot: 0, days, usd: Math.min(costAt(found, days), 2 * top), title: own.offer.title };
    });
    const keys = [{ slot: 0, line: 0, told: `${own.offer.title}: ${number(costAt(found, planned))} ${data.currency} on ${Number(planned.toPrecision(3))} days` }];
    const marks = [];
    shown.forEach((row, place) => {
      const slot = place + 1;
      for (const days of [0, month]) rows.push({ slot, days, usd: row.usd, title: row.offer.title });
      if (Number.isFinite(row.days)) marks.push({ slot, days: row.days, usd: costAt(found, row.days) });
      keys.push({ slot, line: slot, told: `${row.offer.title}: ${number(row.usd)} ${data.currency}; ${paysFrom(row.days)}` });
    });
    const against = shown[0], use = against && Number.isFinite(against.days) ? `from ${digits(against.days, 1)} days of use a month` : "at no use within a month";
    const says = against ? `Against ${against.offer.name} owning pays ${use}` : "";
    return { data: { rows, keys, marks, planned: [{ days: planned }], band: [] }, signals: { top, month, says: wrapped(says) } };
  }

  // Money paid by month.
  function ownFlow(box) {
    const hours = 24 * box.days_per_month * (1 - zero(box.downtime_share)), boxes = zero(box.boxes, 1);
    const energy = zero(box.energy_usd_per_hour) + box.variable - box.paid;
    const monthly = boxes * (zero(box.maintenance_usd_per_month) + zero(box.staff_usd_per_month) + energy * hours);
    const last = Math.ceil(box.months - 1e-9), paid = [boxes * box.capex_usd];
    for (let month = 1; month <= last; month += 1) paid.push(paid[month - 1] + monthly * Math.min(1, box.months - (month - 1)));
    paid[last] -= boxes * box.back;
    return { paid, hours: hours * boxes };
  }
  function byMonth(data, inputs, found) {
    if (!found.box) return null;
    const { paid, hours } = ownFlow(found.box), own = found.judged, last = paid.length - 1;
    const shown = found.ordered.filter((row) => row.offer.instance !== own.offer.instance && row.offer.purchase !== "own").slice(0, 3);
    const rows = paid.map((usd, month) => ({ slot: 0, option: own.offer.option, title: own.offer.title, month, cumulative_usd: usd }));
    shown.forEach((row, place) => {
      const change = zero(rentChange(row.offer, inputs)), still = !given(row.offer.rent_change);
      const soFar = (month) => month * (still ? 1 : meanRent(change, Math.max(1, month)));
      const all = (hours * 3600 * own.job.images_per_s * last) / row.perUsd;
      paid.forEach((_, month) => rows.push({ slot: place + 1, option: row.offer.option, title: row.offer.title, month, cumulative_usd: (all * soFar(month)) / soFar(last) }));
    });
    const ends = rows.filter((row) => row.month === last);
    const keys = ends.map((row, line) => ({ slot: row.slot, line, told: `${row.title}: ${number(row.cumulative_usd)} ${data.currency} in ${last} months` }));
    return { data: { rows, keys }, signals: { months: monthTicks(last), says: wrapped(sinceWhen(rows, own, shown[0], last)) } };
  }
  function monthTicks(last) {
    const step = [1, 3, 6, 12, 24].find((months) => last <= 10 * months || months === 24);
    return Array.from({ length: Math.floor(last / step) + 1 }, (_, place) => place * step);
  }
  function sinceWhen(rows, own, rival, last) {
    if (!rival) return "";
    const of = (slot) => rows.filter((row) => row.slot === slot).map((row) => row.cumulative_usd);
    const [mine, other] = [of(0), of(1)], dearer = mine.map((usd, month) => (usd > other[month] ? month : -1)).filter((month) => month >= 0);
    const latest = dearer.length ? dearer[dearer.length - 1] : -1;
    if (latest === last) return `Within ${last} months ${own.offer.name} does not become cheaper than ${rival.offer.name}`;
    if (latest >= 0 && latest + 1 === last && mine[last] < mine[last - 1])
      return `Only when it is sold, in month ${last}, has ${own.offer.name} cost less than ${rival.offer.name}`;
    return `From month ${latest + 1} on ${own.offer.name} has cost less than ${rival.offer.name}`;
  }

  // The answer in words: the limits first, if there are any, then who is the cheaper and from which use owning pays.
  const plain = (value) => value.toLocaleString("en-US", { maximumFractionDigits: 6 });
  const worth = (row, data) => `${data.hours ? `${number(row.hours)} h and ` : ""}${money(row.usd)} ${data.currency}`;
  function limitsSay(data, inputs, found) {
    const said = [given(inputs.within) ? `within ${plain(inputs.within)} h` : "", given(inputs.spend) ? `for at most ${plain(inputs.spend)} ${data.currency}` : ""];
    const limits = said.filter(Boolean).join(" and ");
    if (!limits) return "";
    if (found.take) {
      const quicker = found.quickest !== found.take && found.quickest.hours < found.take.hours * 0.999;
      const fast = quicker ? ` The fastest of ${found.fit.length} that do: ${found.quickest.offer.name}, ${worth(found.quickest, data)}.` : "";
      return `To be done ${limits}, take ${found.take.offer.name}: ${worth(found.take, data)}.${fast}`;
    }
    const why = given(inputs.within) && found.fastest.hours > inputs.within
      ? `the fastest, ${found.fastest.offer.name}, takes ${number(found.fastest.hours)} h`
      : given(inputs.spend) && found.cheapest.usd > inputs.spend ? `the cheapest, ${found.cheapest.offer.name}, costs ${money(found.cheapest.usd)} ${data.currency}`
        : "what is fast enough costs more, and what costs less takes longer";
    return `Nothing is done ${limits}: ${why}.`;
  }
  function sentences(data, inputs, found) {
    const { judged, rival, gain } = found, wins = gain >= 1, limits = limitsSay(data, inputs, found), said = [];
    if (!rival) said.push(`${judged.offer.name} is the only option`);
    else {
      const [first, second] = wins ? [judged, rival] : [rival, judged];
      said.push(`${first.offer.name} is ${times(wins ? gain : 1 / gain)} times cheaper than ${second.offer.name}`);
    }
    if (found.box && found.against)
      said.push(Number.isFinite(found.days) ? `owning pays from ${number(found.days)} days of use a month` : "owning pays at no use within a month");
    if (limits) return [limits, `Without limits ${said.join("; ")}.`];
    return said.map((one) => `${begun(one)}.`);
  }
  return { front, byDays, byMonth, sentences, number, money, charts: { front, utilisation: byDays, cash_flow: byMonth } };
})();
