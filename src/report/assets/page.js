// The page without this script is complete; with it, points and rows show cards, the arrow keys walk the chart,
// columns sort, families and rows hide, the theme is chosen. Text comes from the markup and only moves.
(() => {
  'use strict';
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector, within = document) => within.querySelector(selector);
  const svg = one('.roofline-chart');
  const live = one('#live');
  root.classList.add('js');
  all('.tools, .hint, .filter').forEach(e => { e.hidden = false; });

  // Theme. Storage may be forbidden for a local file.
  const themes = ['auto', 'light', 'dark'];
  const theme_button = one('#theme');
  const set_theme = name => {
    root.dataset.theme = name;
    theme_button.textContent = 'Theme: ' + name;
    try { localStorage.setItem('roofline-theme', name); } catch { /* stays for this view */ }
  };
  let kept = null;
  try { kept = localStorage.getItem('roofline-theme'); } catch { /* none */ }
  if (themes.includes(kept)) set_theme(kept);
  theme_button.addEventListener('click', () =>
    set_theme(themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length]));

  // Cards.
  let shown = null;
  const card_of = element => {
    const point = element.dataset.point ?? element.dataset.row;
    if (point !== undefined) return one(`[data-card="${CSS.escape(point)}"]`);
    return all('[data-card-ceiling]').find(c => c.dataset.cardCeiling === element.dataset.ceiling);
  };
  const hide = () => {
    if (shown) shown.hidden = true;
    shown = null;
    all('.on').forEach(e => e.classList.remove('on'));
  };
  const show = (element, x, y) => {
    const card = card_of(element);
    if (card !== shown) hide();
    if (!card) return;
    shown = card;
    card.hidden = false;
    const box = card.getBoundingClientRect();
    const left = x + 16 + box.width > innerWidth - 8 ? x - 16 - box.width : x + 16;
    const top = Math.min(y + 16, innerHeight - 8 - box.height);
    card.style.left = Math.max(8, left) + 'px';
    card.style.top = Math.max(8, top) + 'px';
    const point = element.dataset.point;
    if (point !== undefined) one('#row-' + CSS.escape(point))?.classList.add('on');
  };
  // What the keyboard shows stays when the page scrolls away under a resting pointer.
  const leave = element => { if (card_of(element) === shown) hide(); };
  const show_beside = element => {
    const box = element.getBoundingClientRect();
    show(element, box.right - 8, box.top + box.height / 2 - 8);
  };
  const marks = svg ? all('[data-point]', svg) : [];
  const ceilings = svg ? all('[data-ceiling]', svg) : [];
  const mark_of = row => marks.filter(m => m.dataset.point === row.dataset.row);
  for (const element of [...marks, ...ceilings]) {
    one(':scope > title', element)?.remove();  // the card says it; the name stays in aria-label
    element.addEventListener('pointermove', e => show(element, e.clientX, e.clientY));
    element.addEventListener('pointerleave', () => leave(element));
    element.addEventListener('focus', () => show_beside(element));
    element.addEventListener('blur', hide);
  }
  const rows = all('#results tbody tr');
  const dim_others = row => marks.forEach(m => m.classList.toggle('dim', row !== null && m.dataset.point !== row.dataset.row));
  for (const row of rows) {
    row.addEventListener('pointermove', e => {
      if (e.pointerType === 'mouse') show(row, e.clientX, e.clientY);
    });
    row.addEventListener('pointerenter', () => { if (mark_of(row).length) dim_others(row); });
    row.addEventListener('pointerleave', () => { dim_others(null); leave(row); });
  }
  addEventListener('keydown', e => { if (e.key === 'Escape') hide(); });
  // Focus itself may scroll; the card of what has the focus goes along.
  addEventListener('scroll', () => {
    const held = document.activeElement;
    if (shown && card_of(held) === shown) show_beside(held);
    else hide();
  }, {passive: true});

  // Keyboard: one stop for the points, one for the ceilings; arrows walk within.
  const results = JSON.parse(one('#report').textContent).results ?? [];
  const intensity = m => Number(results[m.dataset.point]?.arithmetic_intensity ?? 0);
  const walk = (elements, act) => {
    const visible = () => elements.filter(e => !e.classList.contains('gone'));
    elements.forEach((e, i) => {
      e.setAttribute('tabindex', i === 0 ? '0' : '-1');
      e.setAttribute('role', 'button');
    });
    const go = (from, to) => {
      if (!to) return;
      from.setAttribute('tabindex', '-1');
      to.setAttribute('tabindex', '0');
      to.focus();
    };
    for (const element of elements) {
      element.addEventListener('click', () => act(element));
      element.addEventListener('keydown', e => {
        const list = visible();
        const at = list.indexOf(element);
        const to = {ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: list.length - 1}[e.key];
        if (to !== undefined) go(element, list[(to + list.length) % list.length]);
        else if (e.key === 'Enter' || e.key === ' ') act(element);
        else return;
        e.preventDefault();
      });
    }
  };
  walk([...marks].sort((a, b) => intensity(a) - intensity(b)), mark => {
    const row = one('#row-' + CSS.escape(mark.dataset.point));
    if (!row) return;
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    row.scrollIntoView({block: 'center', behavior: calm ? 'auto' : 'smooth'});
    row.setAttribute('tabindex', '-1');
    row.focus({preventScroll: true});
  });
  walk(ceilings, ceiling => {
    const off = ceiling.classList.toggle('off');
    ceiling.setAttribute('aria-pressed', String(off));
  });

  // Rows and marks that the legend and the filter leave.
  const hidden_families = new Set();
  const filter = one('#filter');
  const apply = () => {
    const words = (filter?.value ?? '').toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const keep = !hidden_families.has(row.dataset.family) && words.every(w => text.includes(w));
      row.hidden = !keep;
      left += keep;
      mark_of(row).forEach(m => m.classList.toggle('gone', !keep));
    }
    const none = one('#none');
    if (none) none.hidden = left > 0 || rows.length === 0;
    live.textContent = `${left} of ${rows.length} kernels shown`;
  };
  filter?.addEventListener('input', apply);
  for (const key of svg ? all('[data-family]:not([data-point])', svg) : []) {
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

  // Sorting: by data-v where a column has it, else by text; rows without a time stay last.
  const body = one('#results tbody');
  const headers = all('#results thead th');
  headers.forEach((th, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = th.textContent;
    th.replaceChildren(button);
    button.addEventListener('click', () => {
      const down = th.getAttribute('aria-sort') === 'ascending';
      headers.forEach(h => h.removeAttribute('aria-sort'));
      th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const key = row => {
        const cell = row.cells[column];
        return cell?.dataset.v === undefined ? cell?.textContent ?? '' : Number(cell.dataset.v);
      };
      const order = (a, b) => {
        const late = a.classList.contains('untimed') - b.classList.contains('untimed');
        if (late) return late;
        if (a.classList.contains('untimed')) return 0;
        const [x, y] = [key(a), key(b)];
        const c = typeof x === 'number' && typeof y === 'number' ? x - y
          : String(x).localeCompare(String(y), 'en', {numeric: true});
        return down ? -c : c;
      };
      body.append(...all('tr', body).sort(order));
    });
  });

  // Scroll boxes that scroll must be reachable by keyboard.
  const reach = () => all('.scroll').forEach(box => {
    const scrolls = box.scrollWidth > box.clientWidth + 1;
    if (scrolls) box.setAttribute('tabindex', '0');
    else box.removeAttribute('tabindex');
  });
  reach();
  addEventListener('resize', reach);

  // Files.
  const save = (name, url) => {
    const link = document.createElement('a');
    link.download = name;
    link.href = url;
    link.click();
  };
  const text_url = (type, text) => `data:${type};charset=utf-8,` + encodeURIComponent(text);
  const drawing = () => {
    const copy = svg.cloneNode(true);
    all('[tabindex]', copy).forEach(e => e.removeAttribute('tabindex'));
    return new XMLSerializer().serializeToString(copy);
  };
  one('#save-json').addEventListener('click', () =>
    save('report.json', text_url('application/json', one('#report').textContent)));
  one('#save-svg').addEventListener('click', () => save('roofline.svg', text_url('image/svg+xml', drawing())));
  one('#save-png').addEventListener('click', () => {
    const image = new Image();
    image.addEventListener('load', () => {
      const canvas = document.createElement('canvas');
      canvas.width = 2 * image.width;
      canvas.height = 2 * image.height;
      canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
      save('roofline.png', canvas.toDataURL('image/png'));
    });
    image.src = text_url('image/svg+xml', drawing());
  });
})();
