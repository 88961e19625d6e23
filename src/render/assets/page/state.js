// The address holds the view: "#row-7?q=gemm&sort=-2&dtype=fp16&zoom=2,-300,-120". A view can be shared, and back and
// forward return to it. The part before the question mark is the place on the page.
let reading = false;
function view_query() {
  const query = new URLSearchParams();
  if (filter?.value) query.set('q', filter.value);
  const {column, down} = order_by;
  if (column !== natural_order.column || down !== natural_order.down) query.set('sort', (down ? '-' : '') + column);
  for (const [kind, set] of Object.entries(chosen)) for (const value of set) query.append(kind, value);
  for (const family of hidden_families) query.append('off', family);
  if (svg && view.zoom > 1) query.set('zoom', [view.zoom, view.x, view.y].map(v => Number(v.toPrecision(5))).join(','));
  if (svg && view.all_roofs) query.set('roofs', 'all');
  return query.toString();
}
function keep_view(push) {
  if (reading) return;
  const query = view_query();
  const hash = place || query ? `#${place}${query && '?' + query}` : '';
  if (hash === location.hash) return;
  try { history[push ? 'pushState' : 'replaceState'](null, '', hash || location.pathname + location.search); } catch { /* as it was */ }
}
const read_view = () => {
  reading = true;
  const [name, text] = location.hash.slice(1).split('?');
  const query = new URLSearchParams(text ?? '');
  if (filter) filter.value = query.get('q') ?? '';
  const sort = query.get('sort');
  order_by = sort === null ? {...natural_order} : {column: Math.abs(Number(sort)) || 0, down: sort.startsWith('-')};
  for (const [kind, set] of Object.entries(chosen)) {
    set.clear();
    query.getAll(kind).forEach(value => set.add(value));
  }
  hidden_families.clear();
  query.getAll('off').forEach(family => hidden_families.add(family));
  show_controls();
  apply();
  if (svg) {
    const [zoom, x, y] = (query.get('zoom') ?? '1,0,0').split(',').map(Number);
    if ([zoom, x, y].every(Number.isFinite)) move_to(Math.min(most_zoom, Math.max(1, zoom)), x, y);
    if (view.all_roofs !== (query.get('roofs') === 'all')) one('#all-roofs').click();
  }
  place = name;
  reading = false;
  go_to(name);
};

// A place is a row or a point, which is selected, or a section, which is unfolded.
const go_to = name => {
  const [, index] = /^(?:point|row)-(\d+)$/.exec(name) ?? [];
  const row = index === undefined ? undefined : row_of.get(Number(index));
  if (!row) {
    release();
    const element = name && document.getElementById(name);
    if (!element) return;
    for (let fold = element.closest('details'); fold; fold = fold.parentElement.closest('details')) fold.open = true;
    element.scrollIntoView({block: 'start', behavior: calm.matches ? 'auto' : 'smooth'});
    place = name;
    return;
  }
  const what = about_row(row);
  hold(what);
  const target = what.element && name.startsWith('point') ? what.element : row;
  reveal(row);
  place = name;
  const come = () => {
    target.scrollIntoView({block: 'center'});
    requestAnimationFrame(() => requestAnimationFrame(() => show_near(what, target)));
  };
  // The browser itself scrolls to the anchor when loading ends.
  if (document.readyState === 'complete') come();
  else addEventListener('load', () => setTimeout(come), {once: true});
};
// Following a link within the page keeps the view.
addEventListener('click', e => {
  const link = e.target.closest?.('a[href^="#"]');
  if (!link || e.defaultPrevented || e.ctrlKey || e.metaKey || e.shiftKey) return;
  e.preventDefault();
  keep_view(false);
  const before = place;
  go_to(link.hash.slice(1));
  if (place !== before) {
    const now = place;
    place = before;
    keep_view(false);
    place = now;
    keep_view(true);
  }
});
addEventListener('hashchange', read_view);
// Zoom and typed filters are stored after a short delay.
let resting = 0;
for (const type of ['pointerup', 'wheel', 'keyup']) {
  addEventListener(type, () => {
    clearTimeout(resting);
    resting = setTimeout(() => keep_view(false), 250);
  }, {passive: true});
}
if (location.hash) read_view();
