// A call whose times the core's simulator found (ringtree/simulate/played.py), as a result that views draw.
//
// For: scenes with a timeline. Not for: times, of which none is worked out here; what simulate.js says of its own model.
'use strict';

const PICOSECOND = 1e-12;

// Returns what simulate() returns, and `work`: slices that take time, as they fold or copy. Slices come in the order in
// which they ended, so each after all that it waited for.
function recorded(scene) {
  const { timeline } = scene;
  const shown = new Map();
  const passes = Array.from({ length: timeline.passes }, (_, pass) =>
    new Contents(scene, shown, timeline.passes > 1 ? `${pass + 1}/${timeline.passes}` : ''));
  const slices = timeline.slices.map(([rank, step, pass, begin, end]) => ({ rank, step, pass, begin: begin * PICOSECOND, end: end * PICOSECOND }));
  const messages = timeline.messages.map(([from, to, bytes, begin, end, arrive, sender, reader]) => ({
    from, to, bytes, sender, reader, chunks: scene.programs[from][slices[sender].step].chunks,
    depart: begin * PICOSECOND, left: end * PICOSECOND, arrive: arrive * PICOSECOND, taken: slices[reader].end,
  }));
  const writes = contentsOf(slices, messages, passes);
  messages.sort((a, b) => a.depart - b.depart);
  const sent = new Float64Array(scene.ranks);
  for (const message of messages) if (message.from < scene.ranks) sent[message.from] += message.bytes; // not switches
  const work = slices.filter(({ begin, end }) => end > begin);
  return { messages, writes, work, steps: stepsOf(slices), end: timeline.end * PICOSECOND, stuck: [], sent };
}

// Folds each step with its first slice and writes it with its last one.
function contentsOf(slices, messages, passes) {
  const read = slices.map(() => []);
  for (const message of messages) read[message.reader].push(message);
  const left = new Map();
  const key = ({ rank, step, pass }) => `${rank}/${step}/${pass}`;
  for (const slice of slices) left.set(key(slice), (left.get(key(slice)) || 0) + 1);
  const values = new Map();
  const writes = [];
  slices.forEach((slice, number) => {
    const { rank, step, pass, end } = slice;
    const contents = passes[pass];
    const here = key(slice);
    if (!values.has(here)) {
      const program = contents.scene.programs[rank][step];
      values.set(here, contents.fold(rank, program, read[number].map(({ sender }) => values.get(key(slices[sender])))));
    }
    left.set(here, left.get(here) - 1);
    if (left.get(here) === 0) contents.write(end, rank, step, values.get(here), writes);
  });
  return writes;
}

// Each step of each rank, from its first slice's begin to its last one's end.
function stepsOf(slices) {
  const steps = new Map();
  for (const { rank, step, begin, end } of slices) {
    const known = steps.get(`${rank}/${step}`);
    if (known === undefined) steps.set(`${rank}/${step}`, { begin, end });
    else known.end = Math.max(known.end, end);
  }
  return [...steps.values()];
}
