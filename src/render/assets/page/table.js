// Filters of table and chart (words, families, types, bounds), and the order of the table.
const filter = one('#filter');
const hidden_families = new Set();
// Requested values of each kind; none means all.
const chosen = {family: new Set(), dtype: new Set(), bound: new Set()};
const texts = new Map();
const text_of = element => {
  if (!texts.has(element)) texts.set(element, (element.getAttribute('aria-label') ?? element.textContent).toLowerCase());
  return texts.get(element);
};
const matches = (text, what, words) => !hidden_families.has(what.family)
  && Object.entries(chosen).every(([kind, set]) => set.size === 0 || what[kind] === undefined || set.has(what[kind]))
  && words.every(word => text().includes(word));
const set_shown = (point, shown) => {
  if (point.shown === shown) return;
  point.shown = shown;
  point.element.classList.toggle('gone', !shown);
};

// The matching rows in order. In large tables only the first page is elements, until the reader asks for more.
const headers = all('#results thead th');
const sorted = headers.findIndex(th => th.hasAttribute('aria-sort'));
const natural_order = {column: Math.max(0, sorted), down: true};
let order_by = {...natural_order};
let in_order = rows;
let matching = rows;
let shown_rows = page_of_rows;
const more_rows = page_of_rows < Infinity ? make('button', {type: 'button', id: 'more-rows'}) : null;
const show_rows = () => {
  if (!results_table) return;
  const shown = matching.slice(0, shown_rows);
  if (asked_for && !shown.includes(asked_for)) shown.push(asked_for);
  results_table.tBodies[0].replaceChildren(...shown.map(element_of));
  if (!more_rows) return;
  more_rows.hidden = matching.length <= shown_rows;
  more_rows.textContent = `Show ${Math.min(page_of_rows, matching.length - shown_rows)} more of ${matching.length} rows`;
};
if (more_rows) {
  results_table.parentNode.after(more_rows);
  const more = () => {
    shown_rows += page_of_rows;
    show_rows();
  };
  more_rows.addEventListener('click', more);
  // Scrolling down to the button loads more rows.
  new IntersectionObserver(seen => { if (seen.some(entry => entry.isIntersecting)) more(); }, {rootMargin: '400px'}).observe(more_rows);
  // Printing shows all rows.
  addEventListener('beforeprint', () => {
    shown_rows = Infinity;
    show_rows();
  });
  addEventListener('afterprint', () => {
    shown_rows = page_of_rows;
    show_rows();
  });
}
// By the numbers of a column; rows without a number come after the others, rows without a time last.
const sort_rows = () => {
  const {column, down} = order_by;
  if (column === natural_order.column && down === natural_order.down) {
    in_order = rows;
    return;
  }
  const keyed = rows.map(row => [row, row.untimed ? NaN : values_of(row)[column]]);
  const rank = (row, value) => row.untimed ? 2 : Number.isNaN(value) || value === undefined ? 1 : 0;
  in_order = keyed.sort(([a, x], [b, y]) => rank(a, x) - rank(b, y) || (rank(a, x) === 0 ? (down ? y - x : x - y) : 0)).map(([row]) => row);
};
// Large charts are updated one frame after the rows.
const show_points = words => {
  const kept = new Set(matching.map(row => row.index));
  for (const point of points) {
    // Points of an earlier run have no row: match their own text.
    set_shown(point, point.run === undefined ? kept.has(point.index)
      : matches(() => text_of(point.element), point.element.dataset, words));
  }
  names_of_points ??= all('.layer-labels .point-label, .key-row', svg);
  for (const name of names_of_points) {
    // A label of several points stays while any of them is shown.
    const indices = [name.dataset.labelOf, ...(name.dataset.also ?? '').split(' ').filter(Boolean)];
    name.classList.toggle('gone', indices.every(index => point_of.get(Number(index))?.shown === false));
  }
  show_paths();
  forget_places();
  if (view.zoom > 1 || view.all_roofs || view.all_counted) redraw();
};
let names_of_points = null;
const apply = () => {
  const words = (filter?.value ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  matching = [];
  asked_for = null;
  shown_rows = page_of_rows;
  sort_rows();
  for (const row of in_order) if (matches(() => text_of_row(row), row, words)) matching.push(row);
  show_rows();
  const none = one('#none');
  if (none) none.hidden = matching.length > 0 || rows.length === 0;
  live.textContent = `${matching.length} of ${rows.length} kernels shown`;
  if (svg && points.length > many) requestAnimationFrame(() => setTimeout(() => show_points(words)));
  else if (svg) show_points(words);
};
filter?.addEventListener('input', apply);

// Buttons show the current state, however it was set.
const controls = [];
const show_controls = () => {
  controls.forEach(show => show());
  headers.forEach((th, i) => {
    if (i === order_by.column) th.setAttribute('aria-sort', order_by.down ? 'descending' : 'ascending');
    else th.removeAttribute('aria-sort');
  });
};
const change = act => {
  act();
  show_controls();
  apply();
  keep_view(true);
};

for (const key of svg ? all('[data-family]:not(.point)', svg) : []) {
  const family = key.dataset.family;
  key.removeAttribute('aria-hidden');
  key.setAttribute('aria-label', 'Show ' + key.textContent.trim());
  key.setAttribute('tabindex', '0');
  key.setAttribute('role', 'button');
  controls.push(() => {
    key.setAttribute('aria-pressed', String(!hidden_families.has(family)));
    key.classList.toggle('off', hidden_families.has(family));
  });
  const toggle = () => change(() => { if (!hidden_families.delete(family)) hidden_families.add(family); });
  key.addEventListener('click', toggle);
  key.addEventListener('keydown', e => {
    if (e.key !== 'Enter' && e.key !== ' ') return;
    e.preventDefault();
    toggle();
  });
}

// A chip for each value that distinguishes rows.
const most_chips = 12;
for (const [kind, title] of [['family', results_table?.dataset.family ?? 'Family'], ['dtype', 'Type'], ['bound', 'Bound']]) {
  const values = new Map();
  for (const row of rows) {
    const value = row[kind];
    if (value && !values.has(value)) values.set(value, row);
  }
  if (values.size < 2 || values.size > most_chips) continue;
  const group = make('span', {role: 'group', 'aria-label': title, class: 'chips'}, make('small', {}, title));
  for (const [value, row] of values) {
    const mark = kind === 'family' ? one('.mark', element_of(row))?.cloneNode(true) : null;
    const chip = make('button', {type: 'button'}, ...(mark ? [mark] : []), make('bdi', {}, value));
    controls.push(() => chip.setAttribute('aria-pressed', String(chosen[kind].has(value))));
    chip.addEventListener('click', () => change(() => { if (!chosen[kind].delete(value)) chosen[kind].add(value); }));
    group.append(chip);
  }
  one('#chips').append(group);
}

const head_button = (th, act) => {
  const button = make('button', {type: 'button'}, th.textContent);
  th.replaceChildren(button);
  button.addEventListener('click', act);
};
headers.forEach((th, column) => head_button(th, () => change(() => {
  order_by = {column, down: th.getAttribute('aria-sort') === 'ascending'};
})));
show_controls();
if (more_rows) show_rows();

// Tables of comparisons: small enough to be elements.
for (const sortable of all('table.sortable')) {
  const titles = all('thead th', sortable);
  titles.forEach((th, column) => head_button(th, () => {
    const down = th.getAttribute('aria-sort') === 'ascending';
    titles.forEach(other => other.removeAttribute('aria-sort'));
    th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const key = row => Number((row.dataset.v ?? '').split(' ')[column]);
    const late = (x, y) => Number.isNaN(x) - Number.isNaN(y);
    const body = sortable.tBodies[0];
    body.append(...[...body.rows].sort((a, b) => late(key(a), key(b)) || (down ? key(b) - key(a) : key(a) - key(b)) || 0));
  }));
}

// The measured figures of each audit, in a list that unfolds.
for (const row of all('.ceilings tbody tr')) {
  const audit = row.cells[row.cells.length - 1];
  if (!Number(row.dataset.checks)) continue;
  const summary = make('summary', {}, ...[...audit.childNodes].filter(n => n.nodeName !== 'SMALL'));
  const details = make('details', {}, summary);
  audit.prepend(details);
  details.addEventListener('toggle', async () => {
    if (details.childElementCount > 1) return;
    const ceiling = (await last_run()).machine.ceilings[Number(row.dataset.at)];
    const list = make('ul', {class: 'checks'});
    for (const {status, name, detail} of ceiling?.audit?.checks ?? []) {
      list.append(make('li', {}, make('i', {}, String(status).replace('_', ' ')), ` ${name}`, make('small', {}, detail ?? '')));
    }
    details.append(list);
  }, {once: true});
}

// Boxes that scroll must be reachable by keyboard.
const reach = () => all('.scroll').forEach(box => {
  if (box.scrollWidth > box.clientWidth + 1) box.setAttribute('tabindex', '0');
  else box.removeAttribute('tabindex');
});
reach();
addEventListener('resize', reach);
