"use strict";
// Rows and titles of the charts that follow the panel, from what the model found of a job: pure functions. The same rows as
// report/charts/front.py, utilisation.py and cash_flow.py draw at the study's own figures.
const series = (() => {
  const { zero, given, hourAt, meanRent, rentChange, isInterruptible, number, digits } = model;
  const WIDTH = 400, HEIGHT = 230, ROOM = 18, NEAR = 15, DEAR = 20, LINES = 7, ABOVE = 1.6, STEPS = 60, BOUND = 1e9, TITLE = 62;
  const wrapped = (text) => text.split(" ").reduce((lines, word) => {
    const last = lines.at(-1), line = `${last} ${word}`.trim();
    return line.length <= TITLE || !last ? [...lines.slice(0, -1), line] : [...lines, word];
  }, [""]);
  // Hours against money.
  const beats = (a, b) => a.hours <= b.hours && a.usd <= b.usd && (a.hours < b.hours || a.usd < b.usd);
  const logEnds = (values, size) => {
    const low = Math.log(Math.min(...values)), high = Math.log(Math.max(...values)), around = high > low ? ((high - low) * ROOM) / (size - 2 * ROOM) : Math.log(2);
    return [Math.exp(low - around), Math.exp(high + around)];
  };
  const logTicks = ([low, high]) => Array.from({ length: 19 }, (_, n) => n - 9)
    .flatMap((power) => (high < 4 * low ? [1, 1.5, 2, 3, 5, 7] : [1, 2, 5]).map((step) => step * 10 ** power)).filter((tick) => tick >= low && tick <= high);
  const ranged = (places) => (places.length > 2 && places.at(-1) - places[0] === places.length - 1 ? `${places[0]} to ${places.at(-1)}` : places.join(", "));
  // The numbers of points by which stands one number for all that are near it.
  function marked(found, xs, ys) {
    const pixel = (value, [low, high], size) => (size * Math.log(value / low)) / Math.log(high / low), firsts = [];
    return found.map((row, place) => {
      const x = pixel(row.hours, xs, WIDTH), y = pixel(row.usd, ys, HEIGHT), near = firsts.find((one) => Math.hypot(one.x - x, one.y - y) < NEAR);
      if (near) near.places.push(place + 1); else firsts.push({ x, y, places: [place + 1] });
      return near ? { places: [] } : firsts.at(-1);
    }).map((one) => ranged(one.places));
  }
  function front(data, work, at, found) {
    const rows = found.rows.filter((row) => row.hours > 0 && row.usd > 0 && Number.isFinite(row.usd) && Number.isFinite(row.hours));
    const known = rows.some((row) => row.allowed) ? rows.filter((row) => row.allowed) : rows, least = Math.min(...known.map((row) => row.usd));
    const box = zero(data.works[data.first].reference), judged = found.judged.offer === work.reference ? found.judged : null;
    const shown = rows.map((row) => {
      const beaten = known.some((other) => beats(other, row)), offer = row.offer;
      return { option: offer.option, label: offer.title.replace(/ \[.*\]$/, ""), hours: row.hours, usd: row.usd, fits: row.fits,
        on_front: !beaten && known.includes(row), beaten, judged: row === judged, allowed: row.allowed,
        kind: row === judged ? (box || offer).title : data.kinds[isInterruptible(offer) ? 1 : 0],
        basis: data.bases[row.job.basis], source: data.sources[row.job.source], as_of: data.dates[row.job.as_of] };
    }).filter((row) => row.on_front || row.judged || (row.usd <= DEAR * least && (row.allowed || !row.beaten)));
    shown.sort((a, b) => a.usd - b.usd || (a.option < b.option ? -1 : 1));
    const [xs, ys] = [logEnds(shown.map((row) => row.hours), WIDTH), logEnds(shown.map((row) => row.usd), HEIGHT)];
    const named = shown.filter((row) => row.on_front || row.judged).sort((a, b) => a.hours - b.hours || a.usd - b.usd)
      .filter((row, place, all) => !all.slice(0, place).some((one) => one.label === row.label && one.hours === row.hours && one.usd === row.usd));
    const marks = marked(named, xs, ys), limited = given(at.within) || given(at.spend);
    const keys = named.slice(0, LINES).map((row, line) => ({ hours: row.hours, usd: row.usd, mark: marks[line], line,
      told: `${line + 1}  ${row.label}: ${number(row.hours)} h, ${number(row.usd)} ${data.currency}` }));
    const kinds = [...data.kinds, zero(box.title)].filter((kind, place, all) => all.indexOf(kind) === place && shown.some((row) => row.kind === kind));
    const best = shown.filter((row) => row.on_front).length, count = limited ? `${found.fit.length} of ${found.pool.length}` : best;
    const says = `${work.model}: ${count} option${limited ? "s keep within the limits" : `${best === 1 ? " is" : "s are"} beaten by none in both time and money`}`;
    return { data: { rows: shown, keys, limits: limited ? [{ hours: zero(at.within, BOUND), usd: zero(at.spend, BOUND) }] : [] },
      signals: { x0: xs[0], x1: xs[1], y0: ys[0], y1: ys[1], xticks: logTicks(xs), yticks: logTicks(ys), kinds, says: wrapped(says) } };
  }
  // What the work costs by days of use.
  function utilisation(data, work, at, found) {
    if (!found.box) return null;
    const own = found.judged, month = data.month_days, planned = found.box.days_per_month;
    const costAt = (days) => (own.usd * hourAt(found.box, days)) / found.box.hour;
    const hired = found.rows.filter((row) => row.offer.purchase !== "own").sort((a, b) => b.perUsd - a.perUsd);
    const shown = [...hired.filter((row) => row.allowed).slice(0, 3), ...hired.filter((row) => !row.allowed).slice(0, 1)];
    const top = ABOVE * Math.max(costAt(planned), ...shown.map((row) => row.usd));
    const rows = Array.from({ length: STEPS }, (_, step) => (month * (step + 1)) / STEPS).map((days) => ({ slot: 0, days, usd: Math.min(costAt(days), 2 * top), title: own.offer.title }));
    const keys = [{ slot: 0, line: 0, told: `${own.offer.title}: ${number(costAt(planned))} ${data.currency} on ${Number(planned.toPrecision(3))} days` }], marks = [];
    shown.forEach((row, place) => {
      const slot = place + 1, pays = Number.isFinite(row.days) ? `the box pays from ${number(row.days, 2)} d` : "cheaper at any use";
      for (const days of [0, month]) rows.push({ slot, days, usd: row.usd, title: row.offer.title });
      if (Number.isFinite(row.days)) marks.push({ slot, days: row.days, usd: costAt(row.days) });
      keys.push({ slot, line: slot, told: `${row.offer.title}: ${number(row.usd)} ${data.currency}; ${pays}` });
    });
    const [against] = shown, use = against && Number.isFinite(against.days) ? `from ${digits(against.days, 1)} days of use a month` : "at no use within a month";
    const says = wrapped(against ? `Against ${against.offer.name} owning pays ${use}` : "");
    return { data: { rows, keys, marks, planned: [{ days: planned }] }, signals: { top, month, says } };
  }
  // Money paid by month.
  function cash_flow(data, work, at, found) {
    const { box, judged: own } = found;
    if (!box) return null;
    const boxes = zero(box.boxes, 1), hours = boxes * 24 * box.days_per_month * (1 - zero(box.downtime_share)), last = Math.ceil(box.months - 1e-9);
    const care = zero(box.maintenance_usd_per_month) + zero(box.staff_usd_per_month), energy = zero(box.energy_usd_per_hour) + box.variable - box.paid;
    const paid = [boxes * box.capex_usd];
    for (let month = 1; month <= last; month += 1) paid.push(paid[month - 1] + (boxes * care + energy * hours) * Math.min(1, box.months - (month - 1)));
    paid[last] -= boxes * box.back;
    const shown = found.ordered.filter((row) => row.offer.instance !== own.offer.instance && row.offer.purchase !== "own").slice(0, 3);
    const rows = paid.map((usd, month) => ({ slot: 0, option: own.offer.option, title: own.offer.title, month, cumulative_usd: usd }));
    shown.forEach((row, place) => {
      const change = zero(rentChange(row.offer, at)), soFar = (month) => month * (given(row.offer.rent_change) ? meanRent(change, Math.max(1, month)) : 1);
      const all = (hours * 3600 * own.job.images_per_s * last) / row.perUsd;
      paid.forEach((_, month) => rows.push({ slot: place + 1, option: row.offer.option, title: row.offer.title, month, cumulative_usd: (all * soFar(month)) / soFar(last) }));
    });
    const keys = rows.filter((row) => row.month === last)
      .map((row, line) => ({ slot: row.slot, line, told: `${row.title}: ${number(row.cumulative_usd)} ${data.currency} in ${last} months` }));
    const step = [1, 3, 6, 12].find((months) => last <= 10 * months) || 24, months = Array.from({ length: Math.floor(last / step) + 1 }, (_, place) => place * step);
    const other = rows.filter((row) => row.slot === 1).map((row) => row.cumulative_usd), latest = paid.reduce((late, usd, month) => (usd > other[month] ? month : late), -1);
    const rival = shown[0] && shown[0].offer.name, name = own.offer.name, says = !rival ? "" : latest === last ? `Within ${last} months ${name} does not become cheaper than ${rival}`
      : latest >= 0 && latest + 1 === last && paid[last] < paid[last - 1] ? `Only when it is sold, in month ${last}, has ${name} cost less than ${rival}`
        : `From month ${latest + 1} on ${name} has cost less than ${rival}`;
    return { data: { rows, keys }, signals: { months, says: wrapped(says) } };
  }
  return { front, utilisation, cash_flow };
})();
