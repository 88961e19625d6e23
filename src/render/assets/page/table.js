// What is shown, in table and chart alike: words, families, types and bounds; and the table's order.
const filter = one('#filter');
const hidden_families = new Set();
// Of each kind the ones that are asked for; none means all.
const chosen = {family: new Set(), dtype: new Set(), bound: new Set()};
const texts = new Map();
const text_of = element => {
  if (!texts.has(element)) texts.set(element, (element.getAttribute('aria-label') ?? element.textContent).toLowerCase());
  return texts.get(element);
};
const matches = (text, attributes, words) => !hidden_families.has(attributes.family)
  && Object.entries(chosen).every(([kind, set]) => set.size === 0 || attributes[kind] === undefined || set.has(attributes[kind]))
  && words.every(word => text.includes(word));
const set_shown = (point, shown) => {
  if (point.shown === shown) return;
  point.shown = shown;
  point.element.classList.toggle('gone', !shown);
};
// Of very many rows only the first that match are laid out, until the reader asks for all: the browser walks every row
// of a table whenever the pointer moves, even over the chart.
const first_rows = 500;
let folded = rows.length > many;
const unfold = folded ? make('button', {type: 'button', id: 'unfold'}) : null;
const fold = () => {
  if (!unfold) return;
  let left = 0;
  for (const row of one('#results').tBodies[0].rows) {
    if (row.hidden) continue;
    ++left;
    row.classList.toggle('later', folded && left > first_rows && row !== held?.row);
  }
  unfold.hidden = !folded || left <= first_rows;
  unfold.textContent = `Show all ${left} rows`;
};
if (unfold) {
  one('#results').parentNode.after(unfold);
  unfold.addEventListener('click', () => {
    folded = false;
    fold();
  });
  fold();
}
const apply = () => {
  const words = (filter?.value ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  let left = 0;
  for (const row of rows) {
    const keep = matches(words.length ? text_of(row) : '', row.dataset, words);
    if (row.hidden === keep) row.hidden = !keep;
    left += keep;
    const point = point_of.get(index_of(row));
    if (point) set_shown(point, keep);
  }
  // Points of an earlier run have no row: their own words count.
  for (const point of points) {
    if (point.run !== undefined) set_shown(point, matches(words.length ? text_of(point.element) : '', point.element.dataset, words));
  }
  for (const name of svg ? all('.point-label, .key-row', svg) : []) {
    name.classList.toggle('gone', point_of.get(Number(name.dataset.labelOf))?.shown === false);
  }
  show_paths();
  fold();
  const none = one('#none');
  if (none) none.hidden = left > 0 || rows.length === 0;
  live.textContent = `${left} of ${rows.length} kernels shown`;
  if (svg) {
    forget_places();
    if (view.zoom > 1 || view.all_roofs || view.all_counted) redraw();
  }
};
filter?.addEventListener('input', apply);

for (const key of svg ? all('[data-family]:not(.point)', svg) : []) {
  key.removeAttribute('aria-hidden');
  key.setAttribute('aria-label', 'Show ' + key.textContent.trim());
  key.setAttribute('tabindex', '0');
  key.setAttribute('role', 'button');
  key.setAttribute('aria-pressed', 'true');
  const toggle = () => {
    const family = key.dataset.family;
    const on = hidden_families.delete(family);
    if (!on) hidden_families.add(family);
    key.setAttribute('aria-pressed', String(on));
    key.classList.toggle('off', !on);
    apply();
  };
  key.addEventListener('click', toggle);
  key.addEventListener('keydown', e => {
    if (e.key !== 'Enter' && e.key !== ' ') return;
    e.preventDefault();
    toggle();
  });
}

// A chip for each value that tells rows apart.
const most_chips = 12;
for (const [kind, title] of [['family', one('#results')?.dataset.family ?? 'Family'], ['dtype', 'Type'], ['bound', 'Bound']]) {
  const values = new Map();
  for (const row of rows) {
    const value = row.dataset[kind];
    if (value && !values.has(value)) values.set(value, row);
  }
  if (values.size < 2 || values.size > most_chips) continue;
  const group = make('span', {role: 'group', 'aria-label': title, class: 'chips'}, make('small', {}, title));
  for (const [value, row] of values) {
    const mark = kind === 'family' ? one('.mark', row)?.cloneNode(true) : null;
    const chip = make('button', {type: 'button', 'aria-pressed': 'false'}, ...(mark ? [mark] : []), make('bdi', {}, value));
    chip.addEventListener('click', () => {
      const on = !chosen[kind].delete(value);
      if (on) chosen[kind].add(value);
      chip.setAttribute('aria-pressed', String(on));
      apply();
    });
    group.append(chip);
  }
  one('#chips').append(group);
}

// Sorting: by data-v where a column has it, else by text; rows without a time stay last.
const headers = all('#results thead th');
headers.forEach((th, column) => {
  const button = make('button', {type: 'button'}, th.textContent);
  th.replaceChildren(button);
  button.addEventListener('click', () => {
    const down = th.getAttribute('aria-sort') === 'ascending';
    headers.forEach(h => h.removeAttribute('aria-sort'));
    th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const key = row => {
      const found = row.cells[column];
      return found?.dataset.v === undefined ? found?.textContent ?? '' : Number(found.dataset.v);
    };
    const order = ([a, x], [b, y]) => {
      const late = a.classList.contains('untimed') - b.classList.contains('untimed');
      if (late) return late;
      if (a.classList.contains('untimed')) return 0;
      const c = typeof x === 'number' && typeof y === 'number' ? x - y
        : String(x).localeCompare(String(y), 'en', {numeric: true});
      return down ? -c : c;
    };
    table.append(...all('tr', table).map(row => [row, key(row)]).sort(order).map(([row]) => row));
    fold();
  });
});

// The audit's figures: a list that opens, a ceiling.
for (const row of all('.ceilings tbody tr')) {
  const audit = row.cells[row.cells.length - 1];
  if (!/ of /.test(audit.textContent)) continue;
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

// Scroll boxes that scroll must be reachable by keyboard.
const reach = () => all('.scroll').forEach(box => {
  if (box.scrollWidth > box.clientWidth + 1) box.setAttribute('tabindex', '0');
  else box.removeAttribute('tabindex');
});
reach();
addEventListener('resize', reach);
