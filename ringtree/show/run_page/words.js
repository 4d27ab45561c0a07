// Numbers as people read them. For: charts and tables. Not for: computing anything.
'use strict';

const words = {
  size(bytes) {
    for (const [scale, unit] of [[2 ** 40, 'TB'], [2 ** 30, 'GB'], [2 ** 20, 'MB'], [2 ** 10, 'KB']])
      if (bytes >= scale) return `${bytes % scale === 0 ? bytes / scale : (bytes / scale).toFixed(1)} ${unit}`;
    return `${bytes} B`;
  },
  digits(value) {
    return Number(value.toPrecision(3)).toString();
  },
  time(seconds) {
    const [scale, unit] = seconds >= 1 ? [1, 's'] : seconds >= 1e-3 ? [1e3, 'ms'] : seconds >= 1e-6 ? [1e6, 'µs'] : [1e9, 'ns'];
    return `${words.digits(seconds * scale)} ${unit}`;
  },
  rate(rate) {
    return rate >= 1e8 ? `${words.digits(rate / 1e9)} GB/s` : `${words.digits(rate / 1e6)} MB/s`;
  },
  // One unit for both ends: percent, unless both are factors.
  changes(low, high, between = ' to ') {
    const percent = (ratio) => `${ratio < 1 ? '' : '+'}${Math.round(100 * (ratio - 1))}%`;
    const first = low < 0.5 && high >= 0.5 ? percent(low) : words.change(low);
    return `${first}${between}${low < 2 && high >= 2 ? percent(high) : words.change(high)}`;
  },
  change(ratio) {
    if (ratio >= 2) return `${words.digits(ratio)}×`;
    if (ratio < 0.5) return `1/${words.digits(1 / ratio)}`;
    const percent = 100 * (ratio - 1);
    const digits = percent.toFixed(Math.abs(percent) < 9.95 ? 1 : 0);
    return `${Number(digits) === 0 ? '0.0' : percent > 0 ? `+${digits}` : digits}%`;
  },
};

const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8c6d1f', '#7f7f7f']; // Okabe & Ito
const SYMBOLS = ['circle', 'square', 'triangle-up', 'diamond', 'triangle-down', 'cross', 'x', 'star'];
const SINGLE = 'single run: nothing can be claimed';

// Colour and marker of the arm with this number; beyond eight the pairs differ, not each by itself.
function look(i) {
  return { colour: COLOURS[i % COLOURS.length], symbol: SYMBOLS[(i + Math.floor(i / COLOURS.length)) % SYMBOLS.length] };
}
