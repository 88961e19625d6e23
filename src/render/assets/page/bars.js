// Charts of bars in rows: the timeline and flame graphs. Places are in per cent of the drawing, so zooming makes the inner
// drawing wider and moving shifts it. Names of bars are drawn anew for each view, at the left end of what is seen of a bar.
const svg_element = (name, attributes, text) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
};
const bars_of = lane => all('rect', lane).map(element => {
  // The card shows the title; remove the tooltip.
  const title = one('title', element);
  const [, name, rest] = /^(.*): (.*)$/s.exec(title.textContent);
  title.remove();
  const share = key => parseFloat(element.getAttribute(key)) / 100;
  // What is after the time and the place: a line.
  const text = [name, lane.dataset.name, ...rest.split(', ').slice(2)].join(' ').toLowerCase();
  return {element, name, rest, text, lane: lane.dataset.name, y: Number(lane.getAttribute('y')),
    height: Number(lane.getAttribute('height')), from: share('x'), width: share('width'), row: element.dataset.row};
});
// Share of the drawing that at least one of the bars covers.
const covered_share = bars => {
  let [sum, end] = [0, 0];
  for (const {from, width} of [...bars].sort((a, b) => a.from - b.from)) {
    sum += Math.max(0, from + width - Math.max(from, end));
    end = Math.max(end, from + width);
  }
  return sum;
};

// `kind`: for screen readers. `most`: of the zoom. `wheel`: whether the wheel zooms once the chart was clicked. `redraw`
// is called with the left end and the zoom of each view, `activate` with a bar that is clicked, or chosen by Enter.
const start_bars = (chart, {kind, most, wheel, redraw = () => {}, activate}) => {
  const inner = one('.window', chart);
  const lanes = all('.lane', inner).map(bars_of).filter(bars => bars.length > 0);
  if (lanes.length === 0) return null;
  all('.lane > svg', inner).forEach(name => name.remove());
  const names = svg_element('g', {class: 'names', 'aria-hidden': 'true'});
  inner.after(names);
  const bars = lanes.flat();
  const by_element = new Map(bars.map(bar => [bar.element, bar]));
  let [zoom, left] = [1, 0];
  let chosen = null;

  const name_bars = () => {
    const pixels = chart.clientWidth * zoom;
    names.replaceChildren();
    for (const {name, from, width, y, height} of bars) {
      const begin = Math.max(0, (from - left) * pixels);
      const end = Math.min(chart.clientWidth, (from + width - left) * pixels);
      if (end - begin < 26) continue;
      const room = svg_element('svg', {x: begin, y, width: end - begin, height});
      room.append(svg_element('text', {x: 4, y: '70%'}, name));
      names.append(room);
    }
  };
  let waiting = false;
  const draw = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      inner.setAttribute('width', 100 * zoom + '%');
      inner.setAttribute('x', -100 * zoom * left + '%');
      chart.classList.toggle('grab', zoom > 1);
      redraw(left, zoom);
      name_bars();
    });
  };
  const view = (from, factor) => {
    zoom = Math.min(most, Math.max(1, factor));
    if (zoom < 1.001) zoom = 1;
    left = Math.min(1 - 1 / zoom, Math.max(0, from));
    draw();
  };
  // `at` is a share of the visible window; it keeps its position.
  const zoom_by = (factor, at = 0.5) => {
    const next = Math.min(most, Math.max(1, zoom * factor));
    view(left + at / zoom - at / next, next);
  };
  const move = by => view(left + by, zoom);
  const place_of = e => {
    const box = chart.getBoundingClientRect();
    return (e.clientX - box.left) / box.width;
  };

  const show_tooltip = (bar, x, y) => {
    hide();
    card.replaceChildren(make('b', {}, bar.name), make('p', {}, [bar.rest, bar.lane].filter(Boolean).join(' \u00b7 ')));
    open_card(x, y);
  };
  // Brings it into view; one that is too narrow to be seen there is zoomed to where `closer`.
  const choose = (bar, closer = false) => {
    chosen?.element.classList.remove('cur');
    chosen = bar;
    bar.element.classList.add('cur');
    const factor = closer && bar.width * zoom * chart.clientWidth < 30 ? 60 / (bar.width * chart.clientWidth) : zoom;
    if (factor > zoom || bar.from < left || bar.from + bar.width > left + 1 / zoom) {
      view(bar.from + bar.width / 2 - 0.5 / factor, factor);
    }
    live.textContent = [bar.name, bar.rest, bar.lane].filter(Boolean).join(', ');
    requestAnimationFrame(() => {
      bar.element.scrollIntoView({block: 'nearest', inline: 'nearest'});
      const box = bar.element.getBoundingClientRect();
      show_tooltip(bar, Math.max(8, box.left), box.bottom - 8);
    });
  };
  const next_bar = key => {
    if (!chosen) return lanes[0][0];
    const lane = lanes.findIndex(list => list.includes(chosen));
    const at = lanes[lane].indexOf(chosen);
    const other = lanes[lane + {ArrowUp: -1, ArrowDown: 1}[key]];
    const middle = chosen.from + chosen.width / 2;
    if (other) return other.reduce((a, b) => Math.abs(b.from + b.width / 2 - middle) < Math.abs(a.from + a.width / 2 - middle) ? b : a);
    return {ArrowRight: lanes[lane][at + 1], ArrowLeft: lanes[lane][at - 1], Home: lanes[lane][0], End: lanes[lane].at(-1)}[key] ?? chosen;
  };

  chart.setAttribute('tabindex', '0');
  chart.setAttribute('role', 'application');
  chart.setAttribute('aria-roledescription', kind);
  chart.addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === '+' || e.key === '=') zoom_by(1.6);
    else if (e.key === '-') zoom_by(1 / 1.6);
    else if (e.key === '0') zoom_by(0);
    else if (e.key === 'PageUp' || e.key === 'PageDown') move((e.key === 'PageUp' ? -0.5 : 0.5) / zoom);
    else if (/^(Arrow|Home|End)/.test(e.key)) choose(next_bar(e.key));
    else if (e.key === 'Enter' && chosen) activate(chosen, true);
    else return;
    e.preventDefault();
    e.stopPropagation();
  });
  chart.addEventListener('blur', () => {
    chosen?.element.classList.remove('cur');
    hide();
  });
  let drag = null;
  let moved = false;
  let awake = false;
  chart.addEventListener('pointerdown', e => {
    if (e.button !== 0) return;
    drag = {at: place_of(e), id: e.pointerId};
    moved = false;
    awake = wheel;
  });
  chart.addEventListener('pointermove', e => {
    if (!drag) {
      const bar = by_element.get(e.target);
      if (bar) show_tooltip(bar, e.clientX, e.clientY);
      else hide();
      return;
    }
    const at = place_of(e);
    if (zoom === 1 || (!moved && Math.abs(at - drag.at) * chart.clientWidth < 4)) return;
    if (!moved) chart.setPointerCapture(drag.id);
    moved = true;
    hide();
    move((drag.at - at) / zoom);
    drag.at = at;
  });
  const lift = () => { drag = null; };
  addEventListener('pointerup', lift);
  addEventListener('pointercancel', lift);
  chart.addEventListener('pointerleave', () => {
    awake = false;
    if (!drag) hide();
  });
  chart.addEventListener('click', e => {
    const bar = by_element.get(e.target);
    if (!moved && bar) activate(bar, false);
  });
  chart.addEventListener('wheel', e => {
    if (!e.ctrlKey && !e.metaKey && !awake) return;
    e.preventDefault();
    hide();
    zoom_by(Math.exp(-e.deltaY * (e.deltaMode === 1 ? 0.05 : 0.002)), place_of(e));
  }, {passive: false});
  const control = name => one(`#${chart.id}-${name}`);
  control('in').addEventListener('click', () => zoom_by(1.6));
  control('out').addEventListener('click', () => zoom_by(1 / 1.6));
  control('reset').addEventListener('click', () => zoom_by(0));

  // Matches are marked and the others pale; Enter goes to the next one, with Shift to the one before.
  const search = control('search');
  let matches = [];
  const find = () => {
    const words = search.value.trim().toLowerCase();
    matches = words ? bars.filter(bar => bar.text.includes(words)) : [];
    const found = new Set(matches);
    bars.forEach(bar => bar.element.classList.toggle('hit', found.has(bar)));
    chart.classList.toggle('searching', words !== '');
    const share = covered_share(matches);
    const amount = `${matches.length} ${matches.length === 1 ? 'bar' : 'bars'}, ${si(share * chart.dataset.length, 's')}, ${percent(share)}`;
    control('found').textContent = !words ? '' : matches.length > 0 ? amount : 'no match';
  };
  search.addEventListener('input', find);
  search.addEventListener('keydown', e => {
    if (e.key === 'Escape') {
      search.value = '';
      find();
    } else if (e.key === 'Enter' && matches.length > 0) {
      const at = matches.indexOf(chosen);
      choose(matches.at(e.shiftKey ? Math.max(at, 0) - 1 : (at + 1) % matches.length), true);
    } else return;
    e.preventDefault();
    e.stopPropagation();
  });
  search.addEventListener('blur', hide);

  addEventListener('resize', draw);
  draw();
  return {zoom_by, view, place_of};
};
