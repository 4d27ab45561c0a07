// Which run, cores and size are shown. For: wiring controls to charts and tables. Not for: drawing (charts.js).
'use strict';

class Report {
  constructor(runs) {
    this.runs = runs;
    this.index = 0;
    document.querySelectorAll('table.data').forEach((table) => {
      const place = document.createComment('');
      table.replaceWith(place);
      place.replaceWith(equip(table));
    });
    document.querySelectorAll('.tab').forEach((tab) => tab.addEventListener('click', () => this.choose(Number(tab.dataset.run))));
    this.place = document.getElementById('place');
    this.size = document.getElementById('size');
    this.place.addEventListener('change', () => this.showPlace());
    this.size.addEventListener('change', () => this.showSize());
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.choose(this.index));
    this.choose(0);
  }

  get run() {
    return this.runs[this.index];
  }

  choose(index) {
    this.index = index;
    document.querySelectorAll('section.run').forEach((section) => { section.hidden = Number(section.dataset.run) !== index; });
    document.querySelectorAll('.tab').forEach((tab) => {
      if (Number(tab.dataset.run) === index) tab.setAttribute('aria-current', 'true');
      else tab.removeAttribute('aria-current');
    });
    fill(this.place, this.run.places.map(({ name, title }) => [name, title]));
    drawRanks(this.run);
    if (this.runs.length > 1) this.showSelection();
    this.showPlace();
  }

  showPlace() {
    const place = this.place.value;
    const { run } = this;
    drawCurves(run, place);
    drawHeatmap(run, place);
    const rows = run.cells.filter((c) => c.place === place).map((c) => [
      c.size, c.arm, c.time && c.time.median, c.time ? `${words.time(c.time.low)} – ${words.time(c.time.high)}` : '', c.time && c.size / c.time.median,
      c.time && (c.size / c.time.median) * c.factor, c.versus && c.versus.ratio,
      c.versus && c.versus.low !== null ? `${words.change(c.versus.low)} – ${words.change(c.versus.high)}` : '',
      c.wrong || (c.versus ? c.versus.verdict : c.arm === run.reference ? 'reference' : ''), c.time && c.time.launches,
    ]);
    const headings = [['size', words.size], ['arm', null], ['time', words.time], ['interval', null], ['algbw', words.rate], ['busbw', words.rate],
      [`against ${run.reference}`, words.change], ['interval of it', null], ['verdict', null], ['launches', null]];
    document.getElementById('figures').replaceChildren(makeTable(`${run.collective}, ${run.num_ranks} ranks`, headings, rows));
    const before = Number(this.size.value);
    const sizes = [...new Set(run.rows.filter((row) => row.place === place).map((row) => row.size))];
    fill(this.size, sizes.map((size) => [String(size), words.size(size)]));
    if (sizes.includes(before)) this.size.value = String(before);
    else if (sizes.length > 0) this.size.value = String(sizes[Math.floor(sizes.length / 2)]);
    this.showSize();
  }

  showSize() {
    const size = Number(this.size.value);
    drawLaunches(this.run, this.place.value, size);
    if (this.runs.length > 1) drawScaling(this.runs, this.run, size);
  }

  showSelection() {
    const { run } = this;
    const same = this.runs.filter((one) => one.collective === run.collective).sort((a, b) => a.num_ranks - b.num_ranks);
    const sizes = [...new Set(same.flatMap((one) => one.rows.map((row) => row.size)))].sort((a, b) => a - b);
    const rows = sizes.map((size) => [size, ...same.map((one) => bestOf(one, size))]);
    const headings = [['size', words.size], ...same.map((one) => [`${one.num_ranks} ranks (${one.id.slice(-6)})`, null])];
    document.getElementById('selection').replaceChildren(makeTable(`${run.collective}: unbeaten arms`, headings, rows));
  }
}

// The arms that nobody was shown to beat; of two arms the verdict says it.
function bestOf(run, size) {
  const place = run.places[0].name;
  const known = run.fastest.find((one) => one.size_bytes === size && one.placement === place);
  if (known) return known.arms.join(', ');
  const cells = run.cells.filter((c) => c.size === size && c.place === place && c.time && !c.wrong);
  if (cells.length === 0) return '';
  const faster = cells.filter((c) => c.versus && c.versus.verdict === 'faster').map((c) => c.arm);
  if (faster.length > 0) return faster.join(', ');
  return cells.filter((c) => c.arm === run.reference || (c.versus && c.versus.verdict !== 'slower')).map((c) => c.arm).join(', ');
}

function fill(select, options) {
  select.replaceChildren(...options.map(([value, title]) => node('option', { value }, title)));
  select.parentElement.hidden = options.length < 2;
}

window.report = new Report(JSON.parse(document.getElementById('runs').textContent));
