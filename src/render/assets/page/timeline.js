// The timeline: its bars lie in per cent of the window, so zooming makes the inner drawing wider and moving shifts it.
const timeline = one('#timeline');
const start_timeline = () => {
  const inner = one('.window', timeline);
  const ticks = one('.ticks', inner);
  const length = Number(timeline.dataset.length);
  const share = (element, name) => parseFloat(element.getAttribute(name)) / 100;
  const lanes = all('.lane', inner).map(lane => all('.slice', lane).map(element => {
    // The card shows the title; remove the tooltip.
    const title = one('title', element);
    const [, name, rest] = /^(.*): (.*)$/s.exec(title.textContent);
    title.remove();
    return {element, name, rest, lane: lane.dataset.name, from: share(element, 'x'), width: share(element, 'width'), row: element.dataset.row};
  })).filter(slices => slices.length > 0);
  if (lanes.length === 0) return;
  const slices = lanes.flat();
  const by_slice = new Map(slices.map(slice => [slice.element, slice]));
  const most = 4000;
  let [zoom, left] = [1, 0];
  let chosen = null;

  const svg_element = (name, attributes, text) => {
    const element = document.createElementNS(timeline.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const time_text = seconds => seconds === 0 ? '0' : si(seconds, 's', 4);
  const draw_ticks = () => {
    const [from, span] = [left * length, length / zoom];
    const rough = span * 100 / Math.max(300, timeline.clientWidth);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= rough);
    const height = timeline.getAttribute('height');
    ticks.replaceChildren();
    for (let i = Math.floor(from / step); i * step <= Math.min(length, from + span); ++i) {
      const x = (100 * i * step / length) + '%';
      ticks.append(svg_element('line', {x1: x, x2: x, y1: 16, y2: height}));
      // A label at the right edge would be clipped.
      if ((i * step - from) * timeline.clientWidth / span < timeline.clientWidth - 44) ticks.append(svg_element('text', {x, y: 12}, time_text(i * step)));
    }
  };
  const name_bars = () => {
    const pixels = timeline.clientWidth * zoom;
    for (const {element, name, from, width} of slices) {
      const seen = from < left + 1 / zoom && from + width > left;
      const room = width * pixels >= 26;
      if (seen && room && !one('text', element)) element.append(svg_element('text', {x: 5, y: 14}, name));
      element.classList.toggle('tiny', !room);
    }
  };
  let waiting = false;
  const redraw_timeline = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      inner.setAttribute('width', 100 * zoom + '%');
      inner.setAttribute('x', -100 * zoom * left + '%');
      timeline.classList.toggle('grab', zoom > 1);
      draw_ticks();
      name_bars();
    });
  };
  // `at` is a share of the visible window; it keeps its position.
  const zoom_timeline = (factor, at = 0.5) => {
    const next = Math.min(most, Math.max(1, zoom * factor));
    left += at / zoom - at / next;
    zoom = next < 1.001 ? 1 : next;
    move_timeline(0);
  };
  const move_timeline = by => {
    left = Math.min(1 - 1 / zoom, Math.max(0, left + by));
    redraw_timeline();
  };
  const place_of = e => {
    const box = timeline.getBoundingClientRect();
    return (e.clientX - box.left) / box.width;
  };

  const show_tooltip = (slice, x, y) => {
    hide();
    card.replaceChildren(make('b', {}, slice.name), make('p', {}, `${slice.rest} \u00b7 ${slice.lane}`));
    open_card(x, y);
  };
  const choose = slice => {
    chosen?.element.classList.remove('cur');
    chosen = slice;
    slice.element.classList.add('cur');
    if (slice.from < left || slice.from + slice.width > left + 1 / zoom) {
      left = slice.from + slice.width / 2 - 0.5 / zoom;
      move_timeline(0);
    }
    live.textContent = `${slice.name}, ${slice.rest}, ${slice.lane}`;
    requestAnimationFrame(() => {
      const box = slice.element.getBoundingClientRect();
      show_tooltip(slice, Math.max(8, box.left), box.bottom - 8);
    });
  };
  const next_slice = key => {
    if (!chosen) return lanes[0][0];
    const lane = lanes.findIndex(list => list.includes(chosen));
    const at = lanes[lane].indexOf(chosen);
    const other = lanes[lane + {ArrowUp: -1, ArrowDown: 1}[key]];
    const middle = chosen.from + chosen.width / 2;
    if (other) return other.reduce((a, b) => Math.abs(b.from + b.width / 2 - middle) < Math.abs(a.from + a.width / 2 - middle) ? b : a);
    return {ArrowRight: lanes[lane][at + 1], ArrowLeft: lanes[lane][at - 1], Home: lanes[lane][0], End: lanes[lane].at(-1)}[key] ?? chosen;
  };
  const hold_row = slice => {
    const row = slice?.row === undefined ? undefined : row_of.get(Number(slice.row));
    if (row) hold(about_row(row));
    return row !== undefined;
  };

  timeline.setAttribute('tabindex', '0');
  timeline.setAttribute('role', 'application');
  timeline.setAttribute('aria-roledescription', 'timeline');
  timeline.addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === '+' || e.key === '=') zoom_timeline(1.6);
    else if (e.key === '-') zoom_timeline(1 / 1.6);
    else if (e.key === '0') zoom_timeline(0);
    else if (e.key === 'PageUp' || e.key === 'PageDown') move_timeline((e.key === 'PageUp' ? -0.5 : 0.5) / zoom);
    else if (/^(Arrow|Home|End)/.test(e.key)) choose(next_slice(e.key));
    else if (e.key === 'Enter' && chosen && hold_row(chosen)) go_to_row(Number(chosen.row));
    else return;
    e.preventDefault();
    e.stopPropagation();
  });
  timeline.addEventListener('blur', () => {
    chosen?.element.classList.remove('cur');
    hide();
  });
  let drag = null;
  let moved = false;
  let awake = false;
  timeline.addEventListener('pointerdown', e => {
    if (e.button !== 0) return;
    drag = {at: place_of(e), id: e.pointerId};
    moved = false;
    awake = true;
  });
  timeline.addEventListener('pointermove', e => {
    if (!drag) {
      const slice = by_slice.get(e.target.closest?.('.slice'));
      if (slice) show_tooltip(slice, e.clientX, e.clientY);
      else hide();
      return;
    }
    const at = place_of(e);
    if (zoom === 1 || (!moved && Math.abs(at - drag.at) * timeline.clientWidth < 4)) return;
    if (!moved) timeline.setPointerCapture(drag.id);
    moved = true;
    hide();
    move_timeline((drag.at - at) / zoom);
    drag.at = at;
  });
  const lift = () => { drag = null; };
  addEventListener('pointerup', lift);
  addEventListener('pointercancel', lift);
  timeline.addEventListener('pointerleave', () => {
    awake = false;
    if (!drag) hide();
  });
  timeline.addEventListener('click', e => {
    if (!moved) hold_row(by_slice.get(e.target.closest('.slice')));
  });
  timeline.addEventListener('dblclick', e => {
    e.preventDefault();
    getSelection()?.removeAllRanges();
    zoom_timeline(e.shiftKey ? 0.5 : 2, place_of(e));
  });
  timeline.addEventListener('wheel', e => {
    if (!e.ctrlKey && !e.metaKey && !awake) return;
    e.preventDefault();
    hide();
    zoom_timeline(Math.exp(-e.deltaY * (e.deltaMode === 1 ? 0.05 : 0.002)), place_of(e));
  }, {passive: false});
  one('#timeline-in').addEventListener('click', () => zoom_timeline(1.6));
  one('#timeline-out').addEventListener('click', () => zoom_timeline(1 / 1.6));
  one('#timeline-reset').addEventListener('click', () => zoom_timeline(0));
  addEventListener('resize', redraw_timeline);
  redraw_timeline();
};
if (timeline) start_timeline();

// Buttons that fold or unfold a whole tree of modules or ranges.
for (const folds of all('.folds')) {
  folds.hidden = false;
  folds.addEventListener('click', e => {
    const how = e.target.closest('[data-fold]')?.dataset.fold;
    if (how) all('details', folds.closest('section')).forEach(d => { d.open = how === 'open'; });
  });
}
