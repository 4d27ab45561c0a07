// Tables: made of rows, sorted by a click on a heading, copied as CSV and Markdown.
//
// For: every table of the page, also those that were written into it. Not for: what is in them.
'use strict';

// headings: [[title, words or null]]; rows: arrays of values. What `words` turns into text is sorted as the number it is.
function makeTable(caption, headings, rows) {
  const head = node('tr', {}, ...headings.map(([title]) => node('th', { scope: 'col' }, title)));
  const body = node('tbody', {}, ...rows.map((row) => node('tr', {}, ...row.map((value, i) => cell(value, headings[i][1])))));
  return equip(node('table', { class: 'data' }, node('caption', {}, caption), node('thead', {}, head), body));
}

function node(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function cell(value, say) {
  if (value === null || value === undefined) return node('td', {}, '');
  if (typeof value === 'object') return node('td', { class: 'number', 'data-value': String(value.value) }, value.text); // as it was printed
  if (typeof value !== 'number') return node('td', {}, String(value));
  return node('td', { class: 'number', 'data-value': String(value) }, say ? say(value) : String(value));
}

// Gives the tables that were written into the page what made ones have.
function equipAll() {
  document.querySelectorAll('table.data').forEach((table) => {
    const place = document.createComment('');
    table.replaceWith(place);
    place.replaceWith(equip(table));
  });
}

// Adds sorting and copying to a table. Returns an element that holds both.
function equip(table) {
  table.querySelectorAll('thead th').forEach((heading, column) => {
    const button = node('button', { type: 'button' }, heading.textContent);
    button.addEventListener('click', () => sortBy(table, column, heading));
    heading.replaceChildren(button);
  });
  const copy = node('div', { class: 'copy' });
  for (const [title, write] of [['Copy as CSV', asCsv], ['Copy as Markdown', asMarkdown]]) {
    const button = node('button', { type: 'button' }, title);
    button.addEventListener('click', () => copyText(write(cellsOf(table)), title));
    copy.append(button);
  }
  const title = table.caption ? table.caption.textContent : '';
  return node('div', {}, copy, node('div', { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': title }, table)); // keys scroll it
}

function sortBy(table, column, heading) {
  const body = table.tBodies[0];
  const up = heading.getAttribute('aria-sort') !== 'ascending';
  const key = (row) => {
    const found = row.cells[column];
    return found.dataset.value === undefined ? found.textContent : Number(found.dataset.value);
  };
  const order = (a, b) => (typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true }));
  const rows = [...body.rows].sort((a, b) => order(key(a), key(b)) * (up ? 1 : -1));
  body.replaceChildren(...rows);
  table.querySelectorAll('thead th').forEach((other) => other.removeAttribute('aria-sort'));
  heading.setAttribute('aria-sort', up ? 'ascending' : 'descending');
}

function cellsOf(table) {
  return [...table.rows].map((row) => [...row.cells].map((one) => one.textContent));
}

function asCsv(rows) {
  // A cell that a spreadsheet would take for a formula begins with an apostrophe.
  const safe = (text) => (/^[=+@\t\r]|^-[^\d.]/.test(text) ? `'${text}` : text);
  return rows.map((row) => row.map((text) => (/[",\n\r]/.test(text) ? `"${safe(text).replaceAll('"', '""')}"` : safe(text))).join(',')).join('\n') + '\n';
}

function asMarkdown(rows) {
  const line = (row) => `| ${row.map((text) => text.replaceAll('|', '\\|').replace(/\s+/g, ' ')).join(' | ')} |`;
  return [line(rows[0]), `|${rows[0].map(() => ' --- |').join('')}`, ...rows.slice(1).map(line)].join('\n') + '\n';
}

// The clipboard's interface is there on secure pages only, and a file may be none: the older way works there.
function copyText(text, title) {
  const area = node('textarea', { 'aria-hidden': 'true' });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  window.copied = text;
  document.getElementById('said').textContent = done ? `${title}: done` : `${title}: the browser refused`;
}
