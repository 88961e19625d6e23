// Pointer and keyboard on chart and table, with one listener each: the target is found by position.
const bucket = 24;
let buckets = null;
const forget_places = () => { buckets = null; };
const bucket_key = (x, y) => Math.floor(x / bucket) * 4096 + Math.floor(y / bucket);
const nearest = (x, y, reach) => {
  if (!buckets) {
    buckets = new Map();
    for (const point of points) {
      if (!point.shown || point.out) continue;
      const key = bucket_key(...point.at);
      if (!buckets.has(key)) buckets.set(key, []);
      buckets.get(key).push(point);
    }
  }
  let [best, best_distance] = [null, reach];
  for (let i = -1; i <= 1; ++i) {
    for (let j = -1; j <= 1; ++j) {
      for (const point of buckets.get(bucket_key(x + i * bucket, y + j * bucket)) ?? []) {
        const distance = Math.hypot(point.at[0] - x, point.at[1] - y) - Math.max(0, point.radius - 6);
        if (distance <= best_distance) [best, best_distance] = [point, distance];
      }
    }
  }
  return best;
};
const in_drawing = e => {
  const box = svg.getBoundingClientRect();
  const {x, y, width} = svg.viewBox.baseVal;
  const scale = width / box.width;
  return [x + (e.clientX - box.left) * scale, y + (e.clientY - box.top) * scale];
};
const under = e => {
  const [x, y] = in_drawing(e);
  const point = nearest(x, y, e.pointerType === 'touch' ? 22 : 11);
  if (point) return about_point(point);
  const ceiling = e.target.closest?.('[data-ceiling]');
  return ceiling ? about_ceiling(ceiling) : null;
};

const toggle_ceiling = element => {
  const off = element.classList.toggle('off');
  element.setAttribute('aria-pressed', String(!off));
  if (view.zoom > 1 || view.all_roofs) redraw();
};
const go_to_row = index => {
  const row = row_of.get(index);
  if (!row) return;
  reveal(row);
  scroll_to(row);
  row.setAttribute('tabindex', '-1');
  row.focus({preventScroll: true});
};

// One tab stop for points, one for ceilings; arrow keys move within.
let walk_points = null;
const by_intensity = () => walk_points ??= points.filter(p => p.run === undefined)
  .sort((a, b) => a.base[0] - b.base[0] || b.base[1] - a.base[1]).map(p => p.element);
const stop_at = element => {
  element?.setAttribute('tabindex', '0');
  element?.setAttribute('role', 'button');
};
const walk = e => {
  const element = e.target.closest('.point, [data-ceiling]');
  if (!element) return false;
  const point = element.matches('.point');
  const list = (point ? by_intensity() : ceilings).filter(m => !m.classList.contains('gone') && !m.classList.contains('out'));
  const at = list.indexOf(element);
  const to = {ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: list.length - 1}[e.key];
  if (to !== undefined) {
    const next = list[(to + list.length) % list.length];
    element.setAttribute('tabindex', '-1');
    stop_at(next);
    next?.focus();
  } else if (e.key === 'Enter' || e.key === ' ') {
    if (point) {
      hold(about_point(points_by_element().get(element)));
      go_to_row(Number(element.dataset.point));
    } else {
      toggle_ceiling(element);
    }
  } else {
    return false;
  }
  return true;
};
const about_element = element => element.matches('.point')
  ? about_point(points_by_element().get(element)) : about_ceiling(element);

const start_chart = () => {
  svg.setAttribute('tabindex', '-1');
  stop_at(by_intensity()[0]);
  for (const element of ceilings) {
    element.setAttribute('role', 'button');
    element.setAttribute('aria-pressed', 'true');
    element.setAttribute('tabindex', '-1');
    // An accessible name must begin with the visible label, which neighbours may share.
    const text = all('text', element).map(t => t.textContent).join(' ');
    if (text && !title_of(element).includes(text)) element.setAttribute('aria-label', `${text}. ${title_of(element)}`);
  }
  stop_at(ceilings[0]);

  const pointers = new Map();
  let moved = false;
  let pinch = 0;
  let awake = false;
  svg.addEventListener('pointerdown', e => {
    if (e.button !== 0) return;
    pointers.set(e.pointerId, in_drawing(e));
    moved = pointers.size > 1;
    pinch = 0;
    awake = true;
  });
  svg.addEventListener('pointermove', e => {
    const from = pointers.get(e.pointerId);
    const at = in_drawing(e);
    if (!from) {
      if (e.pointerType === 'touch') return;
      const what = under(e);
      if (points.length <= many) svg.classList.toggle('aim', what !== null);
      if (what) show(what, e.clientX, e.clientY);
      else leave_by_pointer();
      return;
    }
    if (pointers.size === 1 && view.zoom > 1 && (moved || Math.hypot(at[0] - from[0], at[1] - from[1]) > 4)) {
      if (!moved) svg.setPointerCapture(e.pointerId);
      moved = true;
      hide();
      move_to(view.zoom, view.x + at[0] - from[0], view.y + at[1] - from[1]);
      pointers.set(e.pointerId, at);
    }
    if (pointers.size === 2) {
      pointers.set(e.pointerId, at);
      const [a, b] = [...pointers.values()];
      const spread = Math.hypot(a[0] - b[0], a[1] - b[1]);
      if (pinch > 0) zoom_by(spread / pinch, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
      pinch = spread;
    }
  });
  const lift = e => {
    pointers.delete(e.pointerId);
    pinch = 0;
  };
  addEventListener('pointerup', lift);
  addEventListener('pointercancel', lift);
  svg.addEventListener('pointerleave', e => {
    awake = false;
    if (e.pointerType === 'mouse') leave_by_pointer();
  });
  // Ignore the click that ends a drag.
  svg.addEventListener('click', e => {
    if (moved || e.target.closest('[data-family]:not(.point)')) return;
    const what = under(e);
    if (what?.ceiling) toggle_ceiling(what.element);
    else if (what && !same(what, held)) {
      hold(what);
      show(what, e.clientX, e.clientY);
    } else {
      release();
      hide();
    }
  });
  svg.addEventListener('dblclick', e => {
    e.preventDefault();
    getSelection()?.removeAllRanges();
    zoom_by(e.shiftKey ? 0.5 : 2, ...in_drawing(e));
  });
  // The wheel scrolls the page until the reader clicks into the chart or holds Ctrl.
  svg.addEventListener('wheel', e => {
    if (!e.ctrlKey && !e.metaKey && !awake) return;
    e.preventDefault();
    hide();
    zoom_by(Math.exp(-e.deltaY * (e.deltaMode === 1 ? 0.05 : 0.002)), ...in_drawing(e));
  }, {passive: false});

  svg.addEventListener('focusin', e => {
    if (e.target.matches('.point, [data-ceiling]') && pointers.size === 0) show_near(about_element(e.target), e.target);
  });
  svg.addEventListener('focusout', leave);
  svg.addEventListener('keydown', e => { if (walk(e)) e.preventDefault(); });
  one('#zoom-in').addEventListener('click', () => zoom_by(1.6));
  one('#zoom-out').addEventListener('click', () => zoom_by(1 / 1.6));
  one('#zoom-reset').addEventListener('click', reset_view);
  const roofs = one('#all-roofs');
  roofs.hidden = !ceilings.some(c => c.classList.contains('idle'));
  roofs.addEventListener('click', () => {
    view.all_roofs = !view.all_roofs;
    roofs.setAttribute('aria-pressed', String(view.all_roofs));
    redraw();
  });
  if (!one('.layer-counted', svg)) return;
  const counted = make('button', {type: 'button', id: 'all-counted', 'aria-pressed': 'false',
    title: 'Show hardware counters of every kernel, not only of the one under the pointer'}, 'All counted');
  roofs.after(counted);
  counted.addEventListener('click', () => {
    view.all_counted = !view.all_counted;
    counted.setAttribute('aria-pressed', String(view.all_counted));
    redraw();
  });
};
if (svg) start_chart();

addEventListener('keydown', e => {
  if (e.target.matches?.('input') || e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === 'Escape') {
    release();
    hide();
  }
  if (!svg) return;
  if (e.key === '+' || e.key === '=') zoom_by(1.6);
  if (e.key === '-') zoom_by(1 / 1.6);
  if (e.key === '0') reset_view();
});

const table = one('#results tbody');
const row_at = e => e.target.closest?.('#results tbody tr, .ceilings tbody tr');
const about = row => row.id ? about_row(row) : {row, element: ceilings.find(c => c.dataset.ceiling === row.dataset.label), ceiling: true};
const dim_others = on => { if (points.length <= many) svg?.classList.toggle('focus', on); };
table?.addEventListener('pointermove', e => {
  const row = row_at(e);
  if (!row || e.pointerType !== 'mouse') return;
  const what = about(row);
  show(what, e.clientX, e.clientY);
  dim_others(what.element !== undefined);
});
table?.addEventListener('pointerleave', () => {
  dim_others(false);
  leave_by_pointer();
});
// A click on a name goes to its point; elsewhere it selects the row.
table?.addEventListener('click', e => {
  const row = row_at(e);
  if (!row) return;
  const what = about_row(row);
  hold(what);
  if (!e.target.closest('a')) return;
  e.preventDefault();
  scroll_to(what.element ?? row);
  what.element?.setAttribute('tabindex', '-1');
  what.element?.focus({preventScroll: true});
});
table?.addEventListener('focusin', e => {
  const row = row_at(e);
  if (row) show_near(about(row), e.target);
});
table?.addEventListener('focusout', leave);

// Focus may scroll the page; the card of the focused or selected element moves along. The event may arrive late, from a
// scroll before the pointer moved.
addEventListener('scroll', () => {
  if (card.hidden || scrollY === shown_at) return;
  const focused = document.activeElement?.closest?.('.point, [data-ceiling]');
  if (focused && current?.element === focused) show_near(current, focused);
  else if (held && same(current, held)) leave();
  else hide();
}, {passive: true});
requestIdleCallback?.(() => {
  if (rows.length <= many) load_results();
  rows.forEach(row => { text_of_row(row); values_of(row); });
  // Prepare what the first hover would otherwise wait for.
  if (svg) nearest(0, 0, 0);
  points_by_element();
});
