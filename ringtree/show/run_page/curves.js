// Time and bus bandwidth over size. For: curves, their intervals, limits and crossovers. Not for: other charts (charts.js).
'use strict';

// Every label has the room of a line of text: on a phone every fourth size or so has one, of sizes in equal steps few of the large ones.
function sizeAxis(sizes) {
  const room = Math.max(4, Math.min(16, Math.floor((document.querySelector('main').clientWidth - 120) / 26)));
  const stride = sizes.length > 1 ? Math.max(1, (sizes.length - 1) / room) * Math.log(sizes.at(-1) / sizes[0]) / (sizes.length - 1) : 0;
  const ticks = [];
  for (const size of sizes) if (ticks.length === 0 || Math.log(size / ticks.at(-1)) > 0.99 * stride) ticks.push(size);
  return { type: 'log', title: { text: 'size' }, tickvals: ticks, ticktext: ticks.map(words.size), tickangle: -40 };
}

function cellsOfArm(run, arm, place) {
  return run.cells.filter((c) => c.arm === arm && c.place === place && !c.wrong && c.size > 0).sort((a, b) => a.size - b.size);
}

// What an axis shows of a cell. `ends`: the interval, null for a single run, of which nothing can be claimed.
const TIME = {
  middle: (c) => c.time && c.time.median,
  ends: (c) => (c.time && c.time.low !== null ? [c.time.low, c.time.high] : null),
  limit: ([, seconds]) => seconds,
};
const RATE = {
  middle: (c) => c.busbw,
  ends: (c) => (c.time && c.time.low !== null ? [c.time.high, c.time.low].map((seconds) => (c.busbw * c.time.median) / seconds) : null),
  limit: ([, , rate]) => rate,
};

function curves(run, place, shown, say) {
  const traces = [];
  run.arms.forEach((arm, i) => {
    const cells = cellsOfArm(run, arm, place).filter((c) => shown.middle(c) > 0);
    if (cells.length === 0) return;
    const { colour, symbol } = look(i);
    const ends = cells.map(shown.ends);
    if (ends.every((one) => one !== null)) {
      const band = { x: cells.map((c) => c.size), mode: 'lines', line: { width: 0 }, hoverinfo: 'skip', showlegend: false, legendgroup: `arm ${i}` };
      traces.push({ ...band, y: ends.map(([low]) => low) });
      traces.push({ ...band, y: ends.map(([, high]) => high), fill: 'tonexty', fillcolor: `${colour}30` });
    }
    const interval = (c, one) => (one === null ? SINGLE : `${c.time.label} ${say(one[0])} to ${say(one[1])}`);
    traces.push({
      x: cells.map((c) => c.size), y: cells.map(shown.middle), name: plain(arm), legendgroup: `arm ${i}`, mode: 'lines+markers',
      line: { color: colour, width: 2 }, marker: { symbol, size: 7, color: colour },
      text: cells.map((c, j) => plain(`${arm}, ${words.size(c.size)}: ${say(shown.middle(c))}, ${interval(c, ends[j])}`)), hoverinfo: 'text',
    });
  });
  const dashes = ['dot', 'dash', 'dashdot', 'longdash'];
  run.limits.filter((line) => line.place === null || line.place === place).forEach((line, i) => traces.push({
    x: line.points.map(([size]) => size), y: line.points.map(shown.limit), name: plain(line.name), mode: 'lines',
    line: { color: theme().ink, dash: dashes[i % dashes.length], width: 1.5 }, hoverinfo: 'text',
    text: line.points.map((point) => plain(`${line.name}, ${words.size(point[0])}: ${say(shown.limit(point))}`)),
  }));
  return traces.some((trace) => trace.marker) ? traces : [];
}

const ROW = 17; // pixels of a crossover's name

function crossoversOf(run, place) {
  return run.crossovers.filter((c) => c.kind === 'crossing' && c.placement === place).sort((a, b) => a.estimate - b.estimate);
}

// A band as wide as the interval, a line, and a name above all curves, where its axis keeps room for it.
function crossoverMarks(found, sizes) {
  const middle = Math.sqrt(sizes[0] * sizes.at(-1));
  const band = { type: 'rect', xref: 'x', yref: 'paper', y0: 0, y1: 1, fillcolor: '#f0e442', opacity: 0.3, line: { width: 0 }, layer: 'below' };
  const line = { type: 'line', xref: 'x', yref: 'paper', y0: 0, y1: 1, line: { color: '#a89c00', width: 1 }, layer: 'below' };
  const least = (size) => Math.max(1, size);
  return {
    shapes: found.flatMap((c) => [{ ...band, x0: least(c.low), x1: least(c.high) }, { ...line, x0: least(c.estimate), x1: least(c.estimate) }]),
    annotations: found.map((c, i) => ({
      x: Math.log10(least(c.estimate)), y: 1, yref: 'paper', yanchor: 'top', yshift: -ROW * i, xanchor: c.estimate < middle ? 'left' : 'right', xshift: c.estimate < middle ? 2 : -2,
      showarrow: false, bgcolor: theme().paper, text: plain(`${c.first} / ${c.second}: ${words.size(Math.round(c.estimate))}`), font: { size: 11 },
    })),
  };
}

// `share`: how much of the axis' length stays free above all values.
function withRoom(axis, traces, share) {
  const values = traces.flatMap((trace) => trace.y).filter((value) => value > 0);
  if (share === 0 || values.length === 0) return axis;
  const [low, high] = [Math.min(...values), Math.max(...values)].map(Math.log10);
  const edge = 0.06 * Math.max(0.1, high - low);
  return { ...axis, range: [low - edge, low - edge + (high - low + 2 * edge) / (1 - share)] };
}

// Lines of the legend, each of them 30 pixels high: as many entries stand in one as the longest leaves room for.
function linesOfLegend(traces) {
  const names = traces.filter((trace) => trace.showlegend !== false).map((trace) => trace.name);
  const width = 60 + 8 * Math.max(0, ...names.map((name) => name.length));
  const inOne = Math.max(1, Math.floor((document.querySelector('main').clientWidth - 90) / width));
  return Math.ceil(names.length / inOne);
}

function drawCurves(run, place) {
  const sizes = [...new Set(run.cells.filter((c) => c.place === place && c.size > 0).map((c) => c.size))].sort((a, b) => a - b);
  const found = crossoversOf(run, place);
  const marks = { ...crossoverMarks(found, sizes), xaxis: sizeAxis(sizes) };
  const one = (id, shown, say, what) => {
    const traces = curves(run, place, shown, say);
    const lines = linesOfLegend(traces);
    const plot = 260 + ROW * Math.max(0, found.length - 2); // without title, legend and axis of sizes
    const yaxis = withRoom(logAxis(what.toLowerCase(), traces, say), traces, (ROW * found.length) / (plot - 20));
    draw(id, traces, { ...marks, height: plot + 94 + 30 * lines, yaxis }, `${what} over size of ${run.arms.join(', ')}`);
  };
  one('busbw', RATE, words.rate, 'Bus bandwidth');
  one('time', TIME, words.time, 'Time of a call');
}
