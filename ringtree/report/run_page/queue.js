// When a chart is drawn: those on the screen first, the others right after, one chart a task, so that the page answers
// in between. For: whatever takes long to draw. Not for: what is drawn (charts.js).
//
// Nothing waits for somebody to scroll: search and copying find all charts soon, paper finds them at once. The page says
// how far it is: <html data-charts="drawing">, then "drawn".
'use strict';

const waiting = new Map(); // element → what draws it
let task = null;

// The element has its height already: nothing moves when it is drawn. A second drawing replaces one that still waits.
function drawSoon(chart, drawing) {
  waiting.set(chart, drawing);
  if (window.matchMedia('print').matches) drawNow(chart);
  else schedule();
}

function drawNever(chart) {
  waiting.delete(chart);
  schedule();
}

function schedule() {
  document.documentElement.dataset.charts = 'drawing';
  if (task === null) task = setTimeout(drawNearest, 0);
}

function drawNearest() {
  if (waiting.size > 0) drawNow(nearest([...waiting.keys()]));
  task = waiting.size > 0 ? afterFrame(drawNearest) : null;
  if (task === null) document.documentElement.dataset.charts = 'drawn';
}

// Lets the browser show what there is. A window that is hidden shows nothing, and goes on all the same.
function afterFrame(callback) {
  return window.requestIdleCallback ? requestIdleCallback(callback, { timeout: 100 }) : setTimeout(callback, 20);
}

// One that fails is told to the console and does not keep the others back.
function drawNow(chart) {
  const drawing = waiting.get(chart);
  waiting.delete(chart);
  try {
    drawing();
  } catch (error) {
    window.reportError(error);
  }
}

// Asked anew each time: a link, a key or a search may have gone elsewhere in the meantime.
function nearest(charts) {
  const far = (box) => Math.max(0, box.top - window.innerHeight, -box.bottom);
  const boxes = charts.map((chart) => ({ chart, box: chart.getBoundingClientRect() }));
  boxes.sort((a, b) => far(a.box) - far(b.box) || a.box.top - b.box.top);
  return boxes[0].chart;
}

window.addEventListener('beforeprint', () => [...waiting.keys()].forEach(drawNow));
