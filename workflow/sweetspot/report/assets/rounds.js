"use strict";
// What a plan of phases costs on one option, as in decision/rounds.py.
const roundsCost = (() => {
  const ROUNDING = 1e-9; // as in the workflow

  // Rounds of jobs on the machine that has most of them, and of all machines together; dealt out evenly.
  const rounds = (jobs, slots, machines) => {
    const used = Math.min(machines, Math.ceil(jobs / slots));
    const share = Math.floor(jobs / used), more = jobs - share * used;
    const whole = Math.ceil(share / slots), longer = Math.ceil((share + 1) / slots);
    return [more > 0 ? longer : whole, longer * more + whole * (used - more)];
  };

  // One option at the controls: machines, hours to the end, money; infinite where no number of machines is enough. Days
  // of use are those of machines owned; a contract works all hours of its terms.
  return (one, at) => {
    const work = at.plan_work / 100;
    const rent = one.own ? 1 : 1 + at.plan_rent / 100;
    if (one.room === null) {
      const usd = one.phases.reduce((sum, phase) => sum + phase.usd * work, 0);
      return { machines: one.machines, hours: one.hours * work, usd: usd * rent + one.held * rent };
    }
    const room = one.room * (one.own ? at.plan_days / 100 : 1), most = Math.max(...one.phases.map((phase) => phase.jobs));
    const taken = (n) => one.phases.reduce((sum, phase) =>
      sum + rounds(phase.jobs, phase.slots, n)[0] * phase.hours * work, 0);
    let n = one.least, short = taken(n) > room * (1 + ROUNDING);
    while (short && n < most) {
      n = Math.min(most, Math.max(n + 1, Math.ceil((n * taken(n)) / room - ROUNDING)));
      short = taken(n) > room * (1 + ROUNDING);
    }
    const month = one.held + one.bought * (at.plan_price / 100 - 1);
    const running = one.phases.reduce((sum, phase) => sum + (phase.usd * work
      * rounds(phase.jobs, phase.slots, n)[1]) / rounds(phase.jobs, phase.slots, one.machines)[1], 0);
    const usd = ((month / one.machines) * n + running * (one.own ? at.plan_power / 100 : 1)) * rent;
    return { machines: n, hours: taken(n), usd: short ? Infinity : usd };
  };
})();
