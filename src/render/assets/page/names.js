// Labels of a zoomed view: ceilings along their lines, then points beside their markers, the costliest first, without
// overlap. A grid of cells keeps this linear in the number of points.
const cell = 40;
class Space {
  constructor() { this.cells = new Map(); }
  visit([x, y, width, height], act) {
    for (let i = Math.floor(x / cell); i <= Math.floor((x + width) / cell); ++i) {
      for (let j = Math.floor(y / cell); j <= Math.floor((y + height) / cell); ++j) {
        const key = i * 4096 + j;
        if (!this.cells.has(key)) this.cells.set(key, []);
        if (act(this.cells.get(key))) return true;
      }
    }
    return false;
  }
  add(box) { this.visit(box, list => { list.push(box); }); }
  hit(box) {
    const [x, y, width, height] = box;
    return this.visit(box, list => list.some(b => b[0] < x + width && x < b[0] + b[2] && b[1] < y + height && y < b[1] + b[3]));
  }
  free(boxes) {
    return boxes.every(([x, y, w, h]) => x >= plot.x && y >= plot.y && x + w <= plot.right && y + h <= plot.bottom)
      && !boxes.some(box => this.hit(box));
  }
}

const ruler = document.createElement('canvas').getContext('2d');
const width_of = (text, weight = 400, size = 11.5) => {
  ruler.font = `${weight} ${size}px Inter, Arial, sans-serif`;
  return ruler.measureText(text).width;
};

// "HBM read: 4.67 TB/s (burst, …" is "HBM read 4.67 TB/s": neighbours may share a label in the drawing.
const ceiling_name = element => {
  const [, name, value] = /^(.*?): (.*?) \(/.exec(title_of(element)) ?? [];
  return name ? `${name} ${value}` : '';
};
const name_flat = (y, width, space) => {
  for (let right = plot.right - 8; right > plot.x + width + plot.width * 0.3; right -= 14) {
    const box = [right - width, y - 17, width, 14];
    if (space.free([box])) return {boxes: [box], x: right - width, y: y - 5};
  }
  return null;
};
const name_slope = (element, width, space) => {
  const value = Number(element.dataset.value);
  const [from, to] = element.dataset.stretch?.split(' ').map(Number) ?? [0, Infinity];
  const turn = -Math.atan2(axis_y.pixels, axis_x.pixels);
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
  for (let share = 0.06; share < 0.9; share += 0.03) {
    const x = plot.x + plot.width * share;
    const intensity = 10 ** (axis_x.from + ((x - view.x) / view.zoom - plot.x) / axis_x.pixels);
    if (intensity < from || intensity > to) continue;
    const y = on_screen([0, base_y(intensity * value)])[1];
    const [left, base] = [x + 5 * sin, y - 5 * cos];
    const boxes = [];
    for (let along = 0; along <= width; along += 10) boxes.push([left + along * cos - 5, base + along * sin - 12, 10, 13]);
    if (space.free(boxes)) return {boxes, x: left, y: base, turn: turn * 180 / Math.PI};
  }
  return null;
};
const name_ceilings = (names, space) => {
  for (const element of [...ceilings].reverse()) {
    if (element.classList.contains('off')) continue;
    const text = ceiling_name(element);
    const value = Number(element.dataset.value);
    const main = element.classList.contains('main');
    const width = width_of(text, main ? 600 : 400);
    const slope = element.dataset.kind === 'bandwidth';
    const place = text === '' ? null
      : slope ? name_slope(element, width, space) : name_flat(on_screen([0, base_y(value)])[1], width, space);
    if (!place) continue;
    place.boxes.forEach(box => space.add(box));
    const attributes = {x: place.x.toFixed(1), y: place.y.toFixed(1), 'text-anchor': 'start'};
    if (slope) attributes.transform = `rotate(${place.turn.toFixed(2)} ${attributes.x} ${attributes.y})`;
    const own = `[id="${CSS.escape(element.id)}"] text`;
    names.append(like(one(own, drawing) ? own : '.ceiling:not(.main):not(.suspect) text', attributes, text));
  }
};

// The label in the drawing, in the key, or else the name of the row.
let known_names = null;
const point_name = point => {
  known_names ??= new Map(all('.point-label, .key-row', drawing)
    .map(g => [Number(g.dataset.labelOf), (all('text', g).at(-1)?.textContent ?? '').replace(/ \+\d+$/, '')])
    .filter(([, text]) => !/^[\d–]*$/.test(text)));
  return known_names.get(point.index) ?? title_of(point.element).split(': ')[0];
};
// The drawing is ordered by cost, ascending; profiles by size, descending.
const most_names = 60;
const name_points = (names, space) => {
  const seen = points.filter(p => p.run === undefined && p.shown && inside(p.at)).reverse().sort((a, b) => b.radius - a.radius);
  seen.forEach(({at: [x, y], radius}) => space.add([x - radius - 1, y - radius - 1, 2 * radius + 2, 2 * radius + 2]));
  let named = 0;
  for (const point of seen.slice(0, 10 * most_names)) {
    if (named === most_names) break;
    const text = point_name(point);
    const [width, [x, y], r] = [width_of(text), point.at, point.radius + 4];
    const places = [[x + r, y - 7], [x - r - width, y - 7], [x - width / 2, y - r - 13], [x - width / 2, y + r - 1],
      [x + r - 3, y - r - 10], [x + r - 3, y + r - 4], [x - r + 3 - width, y - r - 10], [x - r + 3 - width, y + r - 4]];
    const free = places.find(([left, top]) => space.free([[left, top, width, 14]]));
    if (!free) continue;
    space.add([free[0] - 2, free[1], width + 4, 14]);
    names.append(like('.point-label .name', {x: free[0].toFixed(1), y: (free[1] + 11).toFixed(1), 'text-anchor': 'start', 'font-weight': 400}, text));
    ++named;
  }
};
const draw_names = names => {
  const space = new Space();
  if (view.zoom > 1) name_points(names, space);
  else {
    points.forEach(({at: [x, y], radius, shown}) => { if (shown) space.add([x - radius - 1, y - radius - 1, 2 * radius + 2, 2 * radius + 2]); });
    all('.point-label text', svg).forEach(text => {
      const box = text.getBBox();
      space.add([box.x, box.y, box.width, box.height]);
    });
  }
  name_ceilings(names, space);
};
