// The chart's view. Both axes are logarithmic and zoom alike, so zooming is one factor and one shift in pixels:
// lines are scaled, markers and names only moved, ticks and names made anew. Unzoomed, the drawing is as it came.
const data = name => Number(svg?.dataset[name]);
const plot = {x: data('plotX'), y: data('plotY'), width: data('plotWidth'), height: data('plotHeight')};
plot.right = plot.x + plot.width;
plot.bottom = plot.y + plot.height;
const decades = (low, high, pixels) => {
  const from = Math.log10(low);
  return {from, pixels: pixels / (Math.log10(high) - from)};
};
const axis_x = decades(data('xLow'), data('xHigh'), plot.width);
const axis_y = decades(data('yLow'), data('yHigh'), plot.height);
const base_x = value => plot.x + (Math.log10(value) - axis_x.from) * axis_x.pixels;
const base_y = value => plot.bottom - (Math.log10(value) - axis_y.from) * axis_y.pixels;
const inside = ([x, y], by = 0) =>
  x >= plot.x - by && x <= plot.right + by && y >= plot.y - by && y <= plot.bottom + by;

const points = (svg ? all('.point', svg) : []).map(element => {
  const at = [base_x(Number(element.dataset.intensity)), base_y(Number(element.dataset.performance))];
  return {element, radius: Number(element.dataset.radius ?? 6), index: Number(element.dataset.point), run: element.dataset.run, base: at, at, shown: true, out: false, moved: false};
});
// By index, for the run that is shown in full.
const point_of = new Map(points.filter(p => p.run === undefined).map(p => [p.index, p]));
const ceilings = svg ? all('[data-ceiling]', svg) : [];
// A path is hidden with any of its points.
const paths = (svg ? all('.trajectory, .change', svg) : []).map(element =>
  ({element, points: (element.dataset.points ?? element.dataset.point).split(' ').map(index => point_of.get(Number(index)))}));
const show_paths = () => paths.forEach(path =>
  path.element.classList.toggle('gone', path.points.some(point => point?.shown === false)));
// A title becomes a label, so that no tooltip covers the card.
for (const title of svg ? all('.point > title, [data-ceiling] > title', svg) : []) {
  const element = title.parentNode;
  element.setAttribute('role', 'graphics-symbol');
  element.setAttribute('aria-label', title.textContent);
  title.remove();
}
// The original title of a ceiling or a point.
const titles = new Map(ceilings.map(element => [element, element.getAttribute('aria-label')]));
const title_of = element => titles.get(element) ?? element.getAttribute('aria-label') ?? '';
let by_element = null;
const points_by_element = () => by_element ??= new Map(points.map(p => [p.element, p]));

const view = {zoom: 1, x: 0, y: 0, all_roofs: false, all_counted: false};
const on_screen = ([x, y]) => [view.zoom * x + view.x, view.zoom * y + view.y];
const most_zoom = 60;

// Lines are scaled; shapes are moved by their centre.
const moving = [];
const collect_moving = () => {
  for (const layer of all('[class^=layer-]', svg)) {
    const name = layer.getAttribute('class');
    if (/layer-(grid|axes|points|counted|labels|header|legend|footer|key)/.test(name)) continue;
    layer.classList.add('moved');
    for (const element of all('path, circle', layer)) {
      const head = element.closest('.trajectory, .change') && /\bf-/.test(element.getAttribute('class'));
      if (element.tagName === 'path' && !head) {
        moving.push({element, line: true});
      } else {
        const box = element.getBBox();
        moving.push({element, base: [box.x + box.width / 2, box.y + box.height / 2]});
      }
    }
  }
  for (const point of points) {
    for (const path of point.element.children) {
      // The interval of a point: an open line about it.
      if (path.tagName === 'path' && !/z/i.test(path.getAttribute('d'))) moving.push({element: path, whisker: point.base});
    }
  }
};

const shift = base => {
  const [x, y] = on_screen(base);
  return `translate(${(x - base[0]).toFixed(2)} ${(y - base[1]).toFixed(2)})`;
};
const move_lines = () => {
  if (moving.length === 0) collect_moving();
  const scale = `matrix(${view.zoom} 0 0 ${view.zoom} ${view.x} ${view.y})`;
  for (const {element, line, base, whisker} of moving) {
    if (view.zoom === 1) element.removeAttribute('transform');
    else if (line) element.setAttribute('transform', scale);
    else if (whisker) element.setAttribute('transform', `matrix(1 0 0 ${view.zoom} 0 ${whisker[1] * (1 - view.zoom)})`);
    else element.setAttribute('transform', shift(base));
  }
  for (const layer of all('.moved', svg)) {
    if (view.zoom === 1) layer.removeAttribute('clip-path');
    else layer.setAttribute('clip-path', 'url(#chart-clip)');
  }
};
const move_points = () => {
  for (const point of points) {
    point.at = on_screen(point.base);
    const seen = view.zoom === 1 || inside(point.at);
    if (point.out === seen) point.element.classList.toggle('out', !seen);
    point.out = !seen;
    if (view.zoom > 1 && seen) point.element.setAttribute('transform', shift(point.base));
    else if (point.moved) point.element.removeAttribute('transform');
    point.moved = view.zoom > 1 && seen;
  }
};

// Ticks of an axis between two logarithms: powers of ten, then 1-2-5, then even steps, as the room allows.
const ticks_between = (from, to) => {
  const span = to - from;
  const ticks = [];
  if (span < 0.5) {
    const [low, high] = [10 ** from, 10 ** to];
    const rough = 10 ** Math.floor(Math.log10((high - low) / 4));
    const step = [1, 2, 5, 10].map(m => m * rough).find(s => (high - low) / s <= 7);
    for (let i = Math.ceil(low / step); i * step <= high; ++i) ticks.push({value: i * step, major: true});
    return ticks;
  }
  const major = span > 1.8 ? [1] : [1, 2, 5];
  for (let power = Math.floor(from); power <= to; ++power) {
    for (let m = 1; m < 10; ++m) {
      const value = m * 10 ** power;
      const at = Math.log10(value);
      if (at >= from - 1e-9 && at <= to + 1e-9) ticks.push({value, major: major.includes(m)});
    }
  }
  return ticks;
};
// A copy of an element of the drawing in another place, with the colours of every theme.
const like = (selector, attributes, text) => {
  const found = one(selector, drawing);
  const element = found ? found.cloneNode(false) : document.createElementNS(svg.namespaceURI, text === undefined ? 'path' : 'text');
  ['transform', 'id'].forEach(name => element.removeAttribute(name));
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
};
const layer = name => {
  const group = document.createElementNS(svg.namespaceURI, 'g');
  group.setAttribute('class', name);
  group.setAttribute('aria-hidden', 'true');
  return group;
};
const draw_axes = (grid, axes) => {
  const x_from = axis_x.from + (plot.x - plot.x * view.zoom - view.x) / view.zoom / axis_x.pixels;
  const y_from = axis_y.from - (plot.bottom - plot.bottom * view.zoom - view.y) / view.zoom / axis_y.pixels;
  const paths = {major: '', minor: '', tick: `M${plot.x} ${plot.y}V${plot.bottom}H${plot.right}`};
  for (const {value, major} of ticks_between(x_from, x_from + plot.width / axis_x.pixels / view.zoom)) {
    const x = on_screen([base_x(value), 0])[0].toFixed(2);
    paths[major ? 'major' : 'minor'] += `M${x} ${plot.y}V${plot.bottom}`;
    paths.tick += `M${x} ${plot.bottom}v${major ? 6 : 3}`;
    if (major) axes.append(like('.axis-x .tick', {x, y: plot.bottom + 20}, si_plain(value)));
  }
  for (const {value, major} of ticks_between(y_from, y_from + plot.height / axis_y.pixels / view.zoom)) {
    const y = on_screen([0, base_y(value)])[1];
    paths[major ? 'major' : 'minor'] += `M${plot.x} ${y.toFixed(2)}H${plot.right}`;
    paths.tick += `M${plot.x} ${y.toFixed(2)}h${major ? -6 : -3}`;
    if (major) axes.append(like('.axis-y .tick', {x: plot.x - 10, y: (y + 4).toFixed(2)}, si(value, '', 4)));
  }
  grid.append(like('.layer-grid .s-grid-minor', {d: paths.minor}), like('.layer-grid .s-grid', {d: paths.major}));
  axes.append(like('.layer-axes .s-axis', {d: paths.tick}));
};
const si_plain = value => value >= 1000 ? si(value, '', 4) : String(Number(value.toPrecision(4)));

let pending = false;
const draw = () => {
  pending = false;
  const own = view.zoom > 1 || view.all_roofs;
  svg.classList.toggle('zoomed', view.zoom > 1);
  svg.classList.toggle('renamed', own);
  svg.classList.toggle('all-roofs', view.all_roofs);
  if (own || moving.length > 0) move_lines();
  move_points();
  all('.made', svg).forEach(e => e.remove());
  if (own) {
    const grid = layer('made');
    const axes = layer('made');
    const names = layer('made');
    if (view.zoom > 1) draw_axes(grid, axes);
    draw_names(names);
    one('.layer-grid', svg).after(grid);
    one('.layer-points', svg).before(axes, names);
  }
  if (view.all_counted) {
    const marks = layer('made');
    points.filter(p => p.run === undefined && p.shown && !p.out).forEach(p => add_counted(p.index, marks));
    one('.layer-points', svg).before(marks);
  }
  forget_places();
  show_focus();
};
const redraw = () => {
  if (!pending) requestAnimationFrame(draw);
  pending = true;
};

const zoom_by = (factor, x = plot.x + plot.width / 2, y = plot.y + plot.height / 2) => {
  const zoom = Math.min(most_zoom, Math.max(1, view.zoom * factor));
  move_to(zoom, x - (x - view.x) * zoom / view.zoom, y - (y - view.y) * zoom / view.zoom);
};
// The view stays within the drawing: its axes already hold every roof and every point.
const move_to = (zoom, x, y) => {
  view.zoom = zoom < 1.001 ? 1 : zoom;
  view.x = Math.min(plot.x * (1 - view.zoom), Math.max(plot.right * (1 - view.zoom), x));
  view.y = Math.min(plot.y * (1 - view.zoom), Math.max(plot.bottom * (1 - view.zoom), y));
  svg.classList.toggle('grab', view.zoom > 1);
  redraw();
};
const reset_view = () => move_to(1, 0, 0);
