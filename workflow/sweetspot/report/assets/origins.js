"use strict";
// A tooltip has the beginning of a long source; the whole stands in the table of origins, from where it is taken when
// somebody asks: a thousand figures of one source need it once.
(() => {
  const complete = (event) => {
    const figure = event.target.closest && event.target.closest("a.n");
    const row = figure && document.getElementById(figure.hash.slice(1));
    if (row) figure.title = figure.title.replace(/[^·]*… \(origin \d+\)/, () => ` ${row.cells[2].textContent}`);
  };
  for (const name of ["pointerover", "focusin"]) document.addEventListener(name, complete);
})();
