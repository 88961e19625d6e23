// Cards: details of a point, a row or a ceiling that is hovered, focused or selected. Their texts come from the tables.
const card = one('#card');
const column_names = table => all('thead th', table).map(th => th.textContent);
let current = null;
let held = null;

const fact = (list, name, ...content) => {
  if (content.length > 0) list.append(make('dt', {}, name), make('dd', {}, ...content));
};
// Of <details> elements, the summary.
const copy_of = cell => [...cell.childNodes]
  .flatMap(node => node.nodeName === 'DETAILS' ? [...node.firstChild.childNodes] : [node]).map(node => node.cloneNode(true));
const facts_of = row => {
  const names = column_names(row.closest('table') ?? results_table);
  const list = make('dl');
  if (row.classList.contains('untimed')) fact(list, 'Status', ...copy_of(row.cells[1]));
  else [...row.cells].slice(1).forEach((cell, i) => fact(list, names[i + 1], ...copy_of(cell)));
  return list;
};
// Details that the table has no room for.
const add_details = (list, result) => {
  const time = result?.time_s;
  if (!time) return;
  const shares = (result.resources ?? []).filter(r => r.time_s > 0)
    .map(r => `${r.ceiling} ${percent(r.time_s / time.median)}`);
  fact(list, 'Resources', shares.join(', '));
  const kind = result.profiled;
  if (kind) {
    fact(list, 'Times', {traced: 'traced, of every launch', replayed: 'of launches that a profiler replayed by themselves', averaged: 'means over launches'}[kind.sources.time_s]);
    const from = {counted: `counted on ${kind.counted} launches`, modelled: 'modelled: at least so many bytes', stated: 'stated by its author'};
    if (kind.sources.work) fact(list, 'FLOPs and bytes', from[kind.sources.work]);
    fact(list, 'Full name', kind.full_name.slice(0, 400));
  } else fact(list, 'Samples', `${time.samples}, each of ${time.launches_per_sample} launch${time.launches_per_sample === 1 ? '' : 'es'}, ${String(time.stop).replace('_', ' ')}`);
  if (time.clock_hz) fact(list, 'Clock', si(time.clock_hz, 'Hz'));
};
let results = null;
const load_results = async () => {
  results = (await last_run()).results ?? [];
  if (current === null) return;
  fill_card(current);
  place_card(...card_at);
  show_focus();
};

const fill_card = what => {
  card.replaceChildren();
  const row = what.row;
  if (!row) {
    const [name, ...text] = title_of(what.element).split(': ');
    card.append(make('b', {}, name), make('p', {}, text.join(': ')));
    return;
  }
  const index = index_of(row);
  card.append(make('b', {}, what.ceiling ? row.dataset.label : one('bdi', row.cells[0]).textContent));
  const list = facts_of(row);
  if (!what.ceiling) {
    const below = one('small', row.cells[0])?.textContent;
    const summary = results?.[index]?.impl_summary;
    card.append(make('p', {}, summary ? `${below}: ${summary}` : below ?? ''));
    add_details(list, results?.[index]);
    const advice = one(`#verdict-${index} p + p`);
    if (advice) fact(list, 'Next', ...[...advice.childNodes].filter(n => n.nodeName !== 'SMALL').map(n => n.cloneNode(true)));
  }
  card.append(list);
};
let card_at = [0, 0];
const place_card = (x, y) => {
  card_at = [x, y];
  const box = card.getBoundingClientRect();
  const left = x + 16 + box.width > innerWidth - 8 ? x - 16 - box.width : x + 16;
  card.style.left = Math.max(8, left) + 'px';
  // Below the point, or else above it: its counted ticks are at its height.
  const above = y - 16 - box.height;
  const below = Math.min(y + 16, innerHeight - 8 - box.height);
  card.style.top = Math.max(8, below < y + 16 && above >= 8 ? above : below) + 'px';
};

const about_row = row => ({row, element: point_of.get(index_of(row))?.element, index: index_of(row)});
const about_point = point =>
  ({row: point.run === undefined ? row_of.get(point.index) : undefined, element: point.element, index: point.index, point});
const about_ceiling = element => ({
  row: all('.ceilings tbody tr').find(r => r.dataset.label === element.dataset.ceiling), element, ceiling: true,
});
const same = (a, b) => a !== null && b !== null && a.row === b.row && a.element === b.element;

const hide = () => {
  card.hidden = true;
  current?.row?.classList.remove('on');
  current = null;
  show_focus();
};
// A card opened by the keyboard stays when the page scrolls under a resting pointer.
let by_pointer = false;
let shown_at = 0;
const open_card = (x, y) => {
  shown_at = scrollY;
  card.hidden = false;
  place_card(x, y);
};
const show = (what, x, y) => {
  by_pointer = true;
  if (!same(what, current)) {
    hide();
    current = what;
    fill_card(what);
    what.row?.classList.add('on');
    show_focus();
  }
  open_card(x, y);
};
const show_near = (what, element) => {
  const box = element.getBoundingClientRect();
  show(what, box.right - 8, box.top + box.height / 2 - 8);
  by_pointer = false;
};
// The selection is shown again when the pointer leaves other elements.
const leave = () => {
  if (held) show_near(held, held.element ?? held.row);
  else hide();
};
const leave_by_pointer = () => { if (by_pointer) leave(); };

// The highlight over the chart: the mark or the line; for a point also its limiting roof and the headroom up to it.
const overlay = svg?.cloneNode(false);
if (svg) {
  ['role', 'aria-labelledby', 'aria-roledescription'].forEach(name => overlay.removeAttribute(name));
  overlay.setAttribute('class', 'overlay');
  overlay.setAttribute('aria-hidden', 'true');
  svg.after(overlay);
}
// The limiting roof of a kernel: the slope of its access pattern, or the rate of its pipe at its own clock. This may
// differ from the drawn line. `end` is where the label ends: nothing else is drawn above the slopes.
const roof_line = (point, y) => {
  const {limiting, roof} = point.element.dataset;
  const kind = ceilings.find(c => c.dataset.ceiling === limiting)?.dataset.kind
    ?? (/^(hbm|dram|l[123]|shared|pcie|nvlink|network)\b/.test(limiting) ? 'bandwidth' : null);
  const [x] = point.at;
  if (kind === 'bandwidth') {
    const slope = axis_y.pixels / axis_x.pixels;
    const [left, right] = [axis_x.pixels * view.zoom, 0.6 * axis_x.pixels * view.zoom];
    return {d: `M${x - left} ${y + left * slope}L${x + right} ${y - right * slope}`, end: [x + right - 12, y - right * slope]};
  }
  if (kind !== 'compute') return {d: `M${x - 14} ${y}h28`, end: [x - 20, y + 4]};
  const slope = ceilings.find(c => c.classList.contains('main') && c.dataset.kind === 'bandwidth');
  const from = slope ? on_screen([base_x(Number(roof) / Number(slope.dataset.value)), 0])[0] : plot.x;
  return {d: `M${Math.min(from, x - 14)} ${y}H${plot.right}`, end: [Math.min(from, x - 14) - 8, y + 4]};
};
// "FP16 tensor at 1.62 GHz: 741 TFLOP/s", "HBM copy: 4.34 TB/s", "HBM triad mixed with hbm.read: 4.46 TB/s". The report may not be decompressed yet.
const roof_name = point => {
  const {limiting} = point.element.dataset;
  const result = results?.[point.index];
  const resource = result?.resources?.find(r => r.ceiling === limiting);
  const drawn = ceilings.find(c => c.dataset.ceiling === limiting);
  const [, name, value] = (drawn && /^(.*?): (.*?) \(/.exec(title_of(drawn))) ?? [null, limiting, ''];
  const rate = resource?.time_s > 0 ? resource.amount / resource.time_s : NaN;
  const moved = !drawn || Math.abs(rate / Number(drawn.dataset.value) - 1) > 0.005;
  if (!moved || Number.isNaN(rate)) return value ? `${name}: ${value}` : name;
  const unit = / [pnµmkMGTPE]?(\S+)$/.exec(value)?.[1] ?? (resource.kind === 'bandwidth' ? 'B/s' : resource.kind === 'compute' ? 'FLOP/s' : '/s');
  const clock = drawn && resource.kind === 'compute' && result.time_s.clock_hz ? ` at ${si(result.time_s.clock_hz, 'Hz')}` : '';
  const mix = resource.mixed_with ? ` mixed with ${resource.mixed_with}` : '';
  return `${name}${mix}${clock}: ${si(rate, unit)}`;
};
const roof_overlay = point => {
  const {roof, performance} = point.element.dataset;
  if (!(Number(roof) > 0)) return [];
  const [x, y] = point.at;
  const factor = Number(roof) / Number(performance);
  const top = y - Math.log10(factor) * axis_y.pixels * view.zoom;
  const clip = {'clip-path': 'url(#chart-clip)'};
  const {d, end} = roof_line(point, top);
  const line = like('.layer-axes .s-axis', {...clip, d, class: 'held-roof', 'stroke-width': 2.2});
  const text = roof_name(point);
  const at = {x: Math.max(plot.x + 6 + width_of(text, 600), end[0]), y: Math.max(plot.y + 12, end[1])};
  const name = like('.point-label .name', {...at, 'text-anchor': 'end', 'font-weight': 600}, text);
  name.classList.add('held-name');
  if (Math.abs(y - top) < 3) return [line, name];
  const gap = like('.layer-axes .s-axis', {...clip, d: `M${x} ${y}V${top}`, 'stroke-dasharray': '3 3', class: 's-axis head-room'});
  if (y - top < 34) return [line, gap, name];
  return [line, gap, name, like('.point-label .name',
    {x: x + 7, y: (y + Math.max(top, plot.y)) / 2 + 4, 'text-anchor': 'start', 'font-weight': 600}, `${Number(factor.toPrecision(2))}×`)];
};
// The counted ticks of a point, which the drawing hides, with names where requested and where there is room.
const add_counted = (index, into, named = false) => {
  const names = [point_of.get(index).at];
  for (const group of all(`[data-of="${index}"]`, drawing)) {
    const marks = into.appendChild(group.cloneNode(true));
    marks.removeAttribute('display');
    marks.setAttribute('clip-path', 'url(#chart-clip)');
    for (const mark of marks.children) {
      const title = one('title', mark)?.textContent;
      const box = mark.getBBox();
      const base = [box.x + box.width / 2, box.y + box.height / 2];
      if (!title) {
        mark.setAttribute('transform', `matrix(${view.zoom} 0 0 ${view.zoom} ${view.x} ${view.y})`);
        mark.setAttribute('vector-effect', 'non-scaling-stroke');
        continue;
      }
      mark.setAttribute('transform', shift(base));
      const [x, y] = on_screen(base);
      if (!named || !inside([x, y]) || names.some(at => Math.hypot(at[0] - x, at[1] - y) < 30)) continue;
      names.push([x, y]);
      into.append(like('.point-label .name', {x, y: y - 8, 'text-anchor': 'middle'}, title.split(':')[0]));
    }
  }
};
const show_focus = () => {
  overlay?.replaceChildren();
  for (const what of svg ? [held, current] : []) {
    if (!what?.element) continue;
    const point = what.ceiling ? null : points_by_element().get(what.element);
    if (point && (point.out || !point.shown)) continue;
    if (point && point.run === undefined) {
      if (what === (current ?? held)) overlay.append(...roof_overlay(point));
      add_counted(point.index, overlay, true);
    }
    const copy = what.element.cloneNode(true);
    ['id', 'tabindex', 'role', 'aria-label', 'aria-pressed'].forEach(name => copy.removeAttribute(name));
    if (point) copy.dataset.of = point.index;
    else if (view.zoom > 1) copy.setAttribute('clip-path', 'url(#chart-clip)');
    overlay.append(copy);
  }
};

// Selection: one row or point, which the address names (state.js).
const release = () => {
  if (!held) return;
  held.row?.classList.remove('sel');
  held = null;
  address('');
  show_focus();
};
const hold = what => {
  release();
  held = what;
  what.row?.classList.add('sel');
  if (!what.ceiling && what.row) address((what.element ? 'point-' : 'row-') + what.index);
  show_focus();
  if (results === null) load_results();
};
const scroll_to = (element, block = 'center') =>
  element.scrollIntoView({block, behavior: calm.matches ? 'auto' : 'smooth'});
