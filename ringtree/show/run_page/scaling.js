// Several runs on one page: scaling over ranks and hosts, and which arm to run at which size. Not for: one run (charts.js).
'use strict';

// The first placement at which the arm has a time of this size, as `ringtree plot --kind scaling` takes it.
function rateOf(run, arm, size) {
  for (const { name } of run.places) {
    const found = run.cells.find((c) => c.arm === arm && c.size === size && c.place === name && c.busbw > 0 && !c.wrong);
    if (found) return found.busbw;
  }
  return null;
}

// By series, points in the order of ranks. A number of ranks has one point a series: the first run's. `doubled`: the others.
function scalingOf(runs, run, size) {
  const alike = (one) => ['kind', 'collective', 'dtype', 'op', 'emulated', 'simulated'].every((name) => one[name] === run[name])
    && (!one.machine || !run.machine || one.machine === run.machine);
  const found = new Map();
  const doubled = new Set();
  runs.filter((one) => alike(one) && one.num_ranks).forEach((one) => one.arms.forEach((arm) => {
    const name = one.kind === 'log' ? one.series[arm] || 'not forced' : arm;
    const rate = rateOf(one, arm, size);
    if (rate === null) return;
    if (!found.has(name)) found.set(name, []);
    const points = found.get(name);
    if (points.some((point) => point.ranks === one.num_ranks)) doubled.add(one.kind === 'log' ? arm : one.id);
    else points.push({ ranks: one.num_ranks, hosts: one.num_hosts, rate });
  }));
  for (const [name, points] of found) {
    points.sort((a, b) => a.ranks - b.ranks);
    points.forEach((point) => { point.efficiency = point.rate / points[0].rate; });
    if (points.length < 2) found.delete(name);
  }
  return { found, doubled: [...doubled] };
}

function drawScaling(runs, run, size) {
  const { found, doubled } = scalingOf(runs, run, size);
  const names = [...found.keys()];
  const percent = (share) => `${Math.round(100 * share)} %`;
  const said = (name, { ranks, hosts, rate, efficiency }) => plain(`${name}, ${ranks} ranks${hosts ? ` on ${hosts} host${hosts > 1 ? 's' : ''}` : ''}: ${words.rate(rate)}, efficiency ${percent(efficiency)}`);
  const lines = (value) => names.map((name, i) => ({
    x: found.get(name).map((point) => point.ranks), y: found.get(name).map(value), name: plain(name), mode: 'lines+markers', line: { color: look(i).colour }, marker: { symbol: look(i).symbol, size: 8 },
    text: found.get(name).map((point) => said(name, point)), hoverinfo: 'text',
  }));
  const numbers = [...new Set(names.flatMap((name) => found.get(name).map((point) => point.ranks)))].sort((a, b) => a - b);
  const doubling = numbers.length > 1 && numbers.at(-1) / numbers[0] > 8;
  const xaxis = { title: { text: 'ranks' }, tickvals: numbers, ticktext: numbers.map(String), type: doubling ? 'log' : 'linear' };
  const rates = lines((point) => point.rate / 1e9);
  draw('scaling', rates, { xaxis, yaxis: { title: { text: 'bus bandwidth, GB/s' }, rangemode: 'tozero' } }, `Bus bandwidth of ${words.size(size)} over ranks`);
  draw('efficiency', lines((point) => point.efficiency), { xaxis, yaxis: { title: { text: 'efficiency' }, rangemode: 'tozero', tickformat: '.0%' } }, `Efficiency at ${words.size(size)} over ranks`);
  const notes = doubled.length > 0 ? [`Not drawn, since another run has as many ranks: ${doubled.join(', ')}.`] : [];
  const machines = run.machine ? `those of logs that name other devices than ${run.machine} are left out` : 'whether the machines are alike this log does not say';
  if (run.kind === 'log') notes.push(`Each point is a single run, and ${machines}: nothing can be claimed.`);
  document.getElementById('scaling-note').textContent = notes.join(' ');
  const headings = [['arm', null], ['ranks', null], ['hosts', null], ['busbw', words.rate], ['efficiency', percent]];
  const rows = names.flatMap((name) => found.get(name).map((point) => [name, point.ranks, point.hosts, point.rate, point.efficiency]));
  document.getElementById('scaling-figures').replaceChildren(makeTable(`${run.collective} of ${words.size(size)}: scaling`, headings, rows));
}

function drawSelection(runs, run) {
  const tells = (one) => one.cells.length > 0 && (one.kind !== 'log' || one.arms.length > 1);
  const same = runs.filter((one) => tells(one) && one.collective === run.collective && one.dtype === run.dtype && one.op === run.op).sort((a, b) => a.num_ranks - b.num_ranks);
  const sizes = [...new Set(same.flatMap((one) => one.rows.map((row) => row.size)))].sort((a, b) => a - b);
  const arms = [...new Set(same.flatMap((one) => one.arms))];
  const best = sizes.map((size) => same.map((one) => bestOf(one, size)));
  const headings = [['size', words.size], ...same.map((one) => [`${one.num_ranks || '?'} ranks (${one.kind === 'log' ? one.id : one.id.slice(-6)})`, null])];
  const made = makeTable(`${run.collective}: unbeaten arms`, headings, sizes.map((size, i) => [size, ...best[i].map((one) => one.text)]));
  [...made.querySelectorAll('tbody tr')].forEach((row, i) => best[i].forEach((one, j) => {
    if (one.alone !== null) row.cells[j + 1].style.boxShadow = `inset .4rem 0 ${look(arms.indexOf(one.alone)).colour}`;
  }));
  made.classList.add('selection');
  document.getElementById('selection').replaceChildren(made);
  document.getElementById('selection').closest('section').hidden = rowsAreEmpty(best);
}

function rowsAreEmpty(best) {
  return best.every((row) => row.every((one) => one.text === ''));
}

// The arms that nobody was shown to beat; of two arms the verdict says it. `alone`: the one arm, if it is one.
function bestOf(run, size) {
  const place = run.places.length > 0 ? run.places[0].name : '';
  const cells = run.cells.filter((c) => c.size === size && c.place === place && c.time && !c.wrong);
  const name = (arm) => {
    const cell = cells.find((c) => c.arm === arm);
    const chosen = cell ? cell.executed.filter((one) => !arm.includes(one)) : [];
    return chosen.length > 0 ? `${arm} (${chosen.join(', ')})` : arm;
  };
  if (cells.length === 0) return { text: '', alone: null };
  if (run.kind === 'log') {
    if (run.arms.length < 2) return { text: '', alone: null };
    const least = cells.reduce((a, b) => (b.time.median < a.time.median ? b : a));
    return { text: `least time: ${least.arm}; ${SINGLE}`, alone: null };
  }
  const known = run.fastest.find((one) => one.size_bytes === size && one.placement === place);
  const faster = cells.filter((c) => c.versus && c.versus.verdict === 'faster').map((c) => c.arm);
  const unbeaten = cells.filter((c) => c.arm === run.reference || (c.versus && c.versus.verdict !== 'slower')).map((c) => c.arm);
  const arms = known ? known.arms : faster.length > 0 ? faster : unbeaten;
  return { text: arms.map(name).join(', '), alone: arms.length === 1 ? arms[0] : null };
}
