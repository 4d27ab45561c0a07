// The list of runs: filtered, chosen, kept up to date by server-sent events. For: index.html. Not for: reports.
'use strict';

const chosen = new Set();
let runs = [];

function cell(...children) {
  const made = document.createElement('td');
  made.append(...children);
  return made;
}

function words(run) {
  return [run.run_id, run.collective, ...(run.arms || []), run.num_ranks, run.state, run.host].join(' ').toLowerCase();
}

function show() {
  const wanted = document.getElementById('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = runs.filter((run) => wanted.every((word) => words(run).includes(word))).map((run) => {
    const row = document.createElement('tr');
    const box = document.createElement('input');
    box.type = 'checkbox';
    box.checked = chosen.has(run.run_id);
    box.disabled = run.problem !== null || run.launches_stored === 0;
    box.setAttribute('aria-label', `choose ${run.run_id}`);
    box.addEventListener('change', () => {
      if (box.checked) chosen.add(run.run_id);
      else chosen.delete(run.run_id);
      document.getElementById('report').disabled = chosen.size === 0;
      document.getElementById('compare').disabled = chosen.size < 2;
    });
    const link = document.createElement('a');
    link.textContent = run.run_id;
    if (!box.disabled) link.href = `/report?run=${encodeURIComponent(run.run_id)}`;
    const progress = document.createElement('progress');
    progress.max = run.launches_planned || 1;
    progress.value = run.launches_stored || 0;
    const state = run.problem === null ? run.state : `${run.state}: ${run.problem}`;
    const launches = run.state === 'imported' ? [] : [progress, ` ${run.launches_stored ?? 0}/${run.launches_planned ?? '?'}`];
    row.append(cell(box), cell(link), cell(run.collective || ''), cell((run.arms || []).join(', ')), cell(String(run.num_ranks ?? '')),
      cell(...launches), cell(state + (run.emulated ? ', emulated' : '') + (run.simulated ? ', simulated' : '')), cell(run.host || ''));
    return row;
  });
  document.getElementById('runs').replaceChildren(...rows);
  const running = runs.filter((run) => run.state === 'running');
  document.getElementById('live').textContent = running.length > 0
    ? running.map((run) => `${run.run_id} is running: launch ${run.launches_stored} of ${run.launches_planned}`).join('; ') : `${runs.length} runs`;
}

document.getElementById('filter').addEventListener('input', show);
for (const page of ['report', 'compare']) {
  document.getElementById(page).addEventListener('click', () => {
    window.location.href = `/${page}?${[...chosen].map((one) => `run=${encodeURIComponent(one)}`).join('&')}`; // in the order of choosing
  });
}
const events = new EventSource('/events');
events.addEventListener('runs', (event) => {
  runs = JSON.parse(event.data);
  show();
});
events.addEventListener('error', () => { document.getElementById('live').textContent = 'the app has ended, or is not reached'; });
