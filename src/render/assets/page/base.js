'use strict';
// Shared by all parts: finding and making elements, the theme, the embedded report. The page is complete without
// scripts; they add interaction.
const root = document.documentElement;
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const one = (selector, within = document) => within.querySelector(selector);
const make = (name, attributes = {}, ...content) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...content);
  return element;
};
const svg = one('.roofline-chart');
const live = one('#live');
const calm = matchMedia('(prefers-reduced-motion: reduce)');
// Above this many rows, moving the pointer must not touch each row.
const many = 2000;
root.classList.add('js');
all('.tools, .hint, .filter, .filters, .zoom').forEach(e => { e.hidden = false; });
// Attributes that a layer has for its elements move to the elements, because these are copied to other places.
const spread_attributes = chart => {
  for (const name of ['aria-hidden', 'stroke-width', 'font-size', 'font-weight', 'text-anchor']) {
    for (const layer of all(`g[class^=layer-][${name}]`, chart)) {
      const shapes = name === 'aria-hidden' ? [...layer.children] : all(name === 'stroke-width' ? 'path, circle, text' : 'text', layer);
      shapes.filter(shape => !shape.hasAttribute(name)).forEach(shape => shape.setAttribute(name, layer.getAttribute(name)));
      layer.removeAttribute(name);
    }
  }
};
if (svg) spread_attributes(svg);
// The SVG and PNG buttons save the original drawing, before the page moves anything in it; on a phone the wide one.
const drawing = wide_chart?.cloneNode(true);
if (drawing && wide_chart !== svg) spread_attributes(drawing);

// Browsers may forbid storage for local files.
const dark = one('#dark');
const media = {auto: dark.media, light: 'not all', dark: 'screen'};
const themes = Object.keys(media);
const theme_button = one('#theme');
const set_theme = name => {
  root.dataset.theme = name;
  dark.media = media[name];
  theme_button.textContent = 'Theme: ' + name;
  try { localStorage.setItem('roofline-theme', name); } catch { /* stays for this view */ }
};
let kept_theme = null;
try { kept_theme = localStorage.getItem('roofline-theme'); } catch { /* none */ }
if (themes.includes(kept_theme)) set_theme(kept_theme);
theme_button.addEventListener('click', () =>
  set_theme(themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length]));

// The report is decompressed on first use.
let text_promise = null;
const report_text = () => text_promise ??= unpack('report');
let run_promise = null;
const last_run = () => run_promise ??= report_text().then(text => [JSON.parse(text)].flat().at(-1));

// The part of the address before '?' (state.js): the selection, or a section.
let place = '';
const address = name => {
  place = name;
  keep_view(false);
};

const prefixes = ['p', 'n', 'µ', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const si = (value, unit, digits = 3) => {
  const power = Math.min(6, Math.max(-4, Math.floor(Math.log10(Math.abs(value)) / 3 + 1e-9)));
  return `${Number((value / 1000 ** power).toPrecision(digits))} ${prefixes[power + 4]}${unit}`.trim();
};
const percent = fraction => `${(100 * fraction).toFixed(1)} %`;
