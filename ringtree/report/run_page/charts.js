// The charts of one run, as Plotly's traces. For: what is drawn. Not for: choosing what (page.js).
'use strict';

const FASTER = [0, 114, 178];
const SLOWER = [213, 94, 0];

function theme() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return { ink: of('--ink'), paper: of('--paper'), faint: of('--faint') };
}

function layoutOf(extra) {
  const { ink, faint } = theme();
  const axis = { gridcolor: faint, zerolinecolor: faint, linecolor: ink, automargin: true };
  const layout = {
    font: { color: ink, family: 'system-ui, sans-serif', size: 13 }, paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)',
    margin: { t: 30, r: 20, b: 60, l: 70 }, hovermode: 'closest', legend: { orientation: 'h', x: 0, y: 1.02, yanchor: 'bottom' },
    xaxis: { ...axis }, yaxis: { ...axis },
  };
  for (const [name, value] of Object.entries(extra)) layout[name] = name.endsWith('axis') ? { ...axis, ...value } : value;
  return layout;
}

function draw(id, traces, extra, label) {
  const chart = document.getElementById(id);
  chart.setAttribute('role', 'img');
  chart.setAttribute('aria-label', label);
  return Plotly.react(chart, traces, layoutOf(extra), { displaylogo: false, responsive: true, modeBarButtonsToRemove: ['lasso2d', 'select2d'] });
}

// A logarithmic axis whose labels are words and don't run into each other: decades, or 1-2-5 where there are few.
function logAxis(title, traces, say) {
  const values = traces.flatMap((trace) => trace.y || []).filter((value) => value > 0);
  const [low, high] = values.length > 0 ? [Math.min(...values), Math.max(...values)] : [1, 10];
  const steps = high / low > 300 ? [1] : [1, 2, 5];
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++)
    for (const step of steps) ticks.push(step * 10 ** power);
  return { type: 'log', title: { text: title, standoff: 12 }, tickvals: ticks, ticktext: ticks.map(say) };
}

function sizeAxis(sizes) {
  const ticks = sizes.length > 16 ? sizes.filter((_, i) => i % 2 === 0) : sizes;
  return { type: 'log', title: { text: 'size' }, tickvals: ticks, ticktext: ticks.map(words.size), tickangle: -40 };
}

function cellsOfArm(run, arm, place) {
  return run.cells.filter((c) => c.arm === arm && c.place === place && c.time && !c.wrong && c.size > 0).sort((a, b) => a.size - b.size);
}

// value(cell, seconds) is what the axis shows.
function curves(run, place, value, say) {
  const traces = [];
  run.arms.forEach((arm, i) => {
    const cells = cellsOfArm(run, arm, place);
    if (cells.length === 0) return;
    const colour = COLOURS[i % COLOURS.length];
    const ends = cells.map((c) => [value(c, c.time.low), value(c, c.time.high)].sort((a, b) => a - b));
    const band = { x: cells.map((c) => c.size), mode: 'lines', line: { width: 0 }, hoverinfo: 'skip', showlegend: false, legendgroup: arm };
    traces.push({ ...band, y: ends.map(([low]) => low) });
    traces.push({ ...band, y: ends.map(([, high]) => high), fill: 'tonexty', fillcolor: `${colour}30` });
    traces.push({
      x: cells.map((c) => c.size), y: cells.map((c) => value(c, c.time.median)), name: arm, legendgroup: arm, mode: 'lines+markers',
      line: { color: colour, width: 2 }, marker: { symbol: SYMBOLS[i % SYMBOLS.length], size: 7, color: colour },
      text: cells.map((c) => `${arm}, ${words.size(c.size)}: ${say(value(c, c.time.median))}, ${c.time.label} ${say(value(c, c.time.low))} to ${say(value(c, c.time.high))}`),
      hoverinfo: 'text',
    });
  });
  const limits = new Map(run.cells.filter((c) => c.place === place && c.limit > 0 && c.size > 0).map((c) => [c.size, c]));
  if (limits.size > 1) {
    const cells = [...limits.values()].sort((a, b) => a.size - b.size);
    traces.push({
      x: cells.map((c) => c.size), y: cells.map((c) => value(c, c.limit)), name: "the machine's limit", mode: 'lines',
      line: { color: theme().ink, dash: 'dot', width: 1.5 }, hoverinfo: 'text', text: cells.map((c) => `limit at ${words.size(c.size)}: ${say(value(c, c.limit))}`),
    });
  }
  return traces;
}

function crossoverShapes(run, place) {
  const found = run.crossovers.filter((c) => c.kind === 'crossing' && c.placement === place);
  return {
    shapes: found.map((c) => ({ type: 'rect', xref: 'x', yref: 'paper', x0: Math.max(1, c.low), x1: Math.max(1, c.high), y0: 0, y1: 1, fillcolor: '#f0e442', opacity: 0.3, line: { width: 0 }, layer: 'below' })),
    annotations: found.map((c, i) => ({ x: Math.log10(Math.max(1, c.estimate)), y: 1 - 0.08 * i, yref: 'paper', showarrow: false, text: plain(`${c.first} / ${c.second}: ${words.size(Math.round(c.estimate))}`), font: { size: 11 } })),
  };
}

// Plotly reads a few tags in text: names of runs and arms must not be any.
function plain(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function drawCurves(run, place) {
  const sizes = [...new Set(run.cells.filter((c) => c.place === place && c.size > 0).map((c) => c.size))].sort((a, b) => a - b);
  const busbw = (c, seconds) => (c.size / seconds) * (c.factor ?? run.cells.find((o) => o.factor)?.factor ?? 1);
  const marks = crossoverShapes(run, place);
  const rates = curves(run, place, busbw, words.rate);
  draw('busbw', rates, { ...marks, xaxis: sizeAxis(sizes), yaxis: logAxis('bus bandwidth', rates, words.rate) }, `Bus bandwidth over size of ${run.arms.join(', ')}`);
  const times = curves(run, place, (_, seconds) => seconds, words.time);
  draw('time', times, { ...marks, xaxis: sizeAxis(sizes), yaxis: logAxis('time of a call', times, words.time) }, `Time of a call over size of ${run.arms.join(', ')}`);
}

function shade(versus) {
  if (!versus || versus.verdict === 'inconclusive') return 'rgb(217,217,217)';
  if (versus.verdict === 'equivalent') return 'rgb(255,255,255)';
  const full = versus.verdict === 'faster' ? FASTER : SLOWER;
  const share = 0.25 + 0.6 * Math.min(1, Math.abs(Math.log(versus.ratio)) / Math.log(4));
  return `rgb(${full.map((part) => Math.round(255 - share * (255 - part))).join(',')})`;
}

function drawHeatmap(run, place) {
  const arms = run.arms.filter((arm) => arm !== run.reference);
  const sizes = run.rows.filter((row) => row.place === place).map((row) => row.size);
  const shapes = [];
  const points = { x: [], y: [], mode: 'text', text: [], hovertext: [], hoverinfo: 'text', textfont: { size: 11, color: '#1b1f24' }, showlegend: false };
  arms.forEach((arm, y) => sizes.forEach((size, x) => {
    const found = run.cells.find((c) => c.arm === arm && c.size === size && c.place === place);
    if (!found) return;
    const { versus } = found;
    shapes.push({ type: 'rect', x0: x - 0.48, x1: x + 0.48, y0: y - 0.46, y1: y + 0.46, fillcolor: shade(versus), line: { width: versus && versus.verdict === 'equivalent' ? 1 : 0, color: '#999' }, layer: 'below' });
    points.x.push(x);
    points.y.push(y);
    points.text.push(found.wrong ? 'wrong' : versus ? words.change(versus.ratio) : '');
    const interval = versus && versus.low !== null ? `, ${words.change(versus.low)} to ${words.change(versus.high)}` : '';
    points.hovertext.push(plain(found.wrong ? `${arm}: ${found.wrong}` : versus ? `${arm}, ${words.size(size)}: ${words.change(versus.ratio)}${interval}: ${versus.verdict} (${versus.label})` : arm));
  }));
  document.querySelectorAll('.reference').forEach((one) => { one.textContent = run.reference; });
  const chart = document.getElementById('heatmap');
  chart.style.minHeight = `${8 + 2.2 * arms.length}rem`;
  chart.style.minWidth = `${6 + 3.4 * sizes.length}rem`; // a narrow screen scrolls
  draw('heatmap', [points], {
    shapes, height: 130 + 36 * arms.length,
    xaxis: { tickvals: sizes.map((_, i) => i), ticktext: sizes.map(words.size), tickangle: -40, range: [-0.6, sizes.length - 0.4], showgrid: false, zeroline: false },
    yaxis: { tickvals: arms.map((_, i) => i), ticktext: arms.map(plain), range: [arms.length - 0.4, -0.6], showgrid: false, zeroline: false },
  }, `Difference to ${run.reference} by size and arm`);
}

function drawLaunches(run, place, size) {
  const cells = run.arms.map((arm) => run.cells.find((c) => c.arm === arm && c.place === place && c.size === size && c.time && !c.wrong));
  const traces = cells.flatMap((c, i) => (c ? [{
    x: c.by_launch.map(([launch]) => launch), y: c.by_launch.map(([, seconds]) => seconds), name: plain(c.arm), mode: 'markers',
    marker: { color: COLOURS[i % COLOURS.length], symbol: SYMBOLS[i % SYMBOLS.length], size: 8 },
    text: c.by_launch.map(([launch, seconds]) => plain(`${c.arm}, launch ${launch}: ${words.time(seconds)}`)), hoverinfo: 'text',
  }] : []));
  const axis = (of) => logAxis('time of a call', of, words.time);
  draw('order', traces, { xaxis: { title: { text: 'launch' }, dtick: 1 }, yaxis: axis(traces) }, `Median of each launch at ${words.size(size)}`);
  const boxes = cells.flatMap((c, i) => (c && c.quantiles.length > 0 ? [{ type: 'box', y: c.quantiles, name: plain(c.arm), boxpoints: false, marker: { color: COLOURS[i % COLOURS.length] }, hoverinfo: 'y' }] : []));
  draw('distribution', boxes, { showlegend: false, yaxis: axis(boxes) }, `Distribution of samples at ${words.size(size)}`);
}

function drawRanks(run) {
  const traces = run.arms.filter((arm) => run.slowest_ranks[arm]).map((arm) => ({
    type: 'bar', name: plain(arm), x: run.slowest_ranks[arm].map((_, rank) => `rank ${rank}`), y: run.slowest_ranks[arm],
    marker: { color: COLOURS[run.arms.indexOf(arm) % COLOURS.length] },
  }));
  const even = { type: 'line', xref: 'paper', x0: 0, x1: 1, y0: 1 / run.num_ranks, y1: 1 / run.num_ranks, line: { dash: 'dot', color: theme().ink, width: 1 } };
  draw('ranks', traces, { barmode: 'group', shapes: [even], yaxis: { title: { text: 'share of iterations' }, tickformat: '.0%', rangemode: 'tozero' } }, 'Share of iterations in which each rank was the slowest');
}

function drawScaling(runs, run, size) {
  const same = runs.filter((one) => one.collective === run.collective && one.dtype === run.dtype && one.op === run.op);
  const traces = run.arms.flatMap((arm, i) => {
    const points = same.flatMap((one) => one.cells.filter((c) => c.arm === arm && c.size === size && c.time && !c.wrong && c.place === one.places[0].name)
      .map((c) => [one.num_ranks, (c.size / c.time.median) * c.factor])).sort((a, b) => a[0] - b[0]);
    if (points.length < 2) return [];
    const colour = COLOURS[i % COLOURS.length];
    return [
      { x: points.map(([n]) => n), y: points.map(([, rate]) => rate), name: plain(arm), mode: 'lines+markers', line: { color: colour }, marker: { symbol: SYMBOLS[i % SYMBOLS.length], size: 8 },
        text: points.map(([n, rate]) => plain(`${arm}, ${n} ranks: ${words.rate(rate)}, ${Math.round((100 * rate) / points[0][1])} % of that of ${points[0][0]} ranks`)), hoverinfo: 'text' },
      { x: [points[0][0], points.at(-1)[0]], y: [points[0][1], points[0][1]], mode: 'lines', line: { color: colour, dash: 'dash', width: 1 }, showlegend: false, hoverinfo: 'skip' },
    ];
  });
  draw('scaling', traces, { xaxis: { title: { text: 'ranks' } }, yaxis: { title: { text: 'bus bandwidth, bytes/s' }, tickformat: '.2s', rangemode: 'tozero' } }, `Bus bandwidth of ${words.size(size)} over ranks`);
}
