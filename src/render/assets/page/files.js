// Downloads: the original drawing, the rows as in results.csv, the report.
const save = (name, type, ...parts) => {
  const url = URL.createObjectURL(new Blob(parts, {type}));
  make('a', {download: name, href: url}).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
};
// The page colours by class and embeds its font; a file needs literal colours (light theme) and text widths.
const svg_text = () => {
  const painted = drawing.cloneNode(true);
  for (const {selectorText, style} of document.styleSheets[0].cssRules) {
    if (!/^(text)?\.[fs]-/.test(selectorText)) continue;
    for (const element of all(selectorText, painted)) [...style].forEach(name => element.setAttribute(name, style.getPropertyValue(name)));
  }
  for (const text of all('text', painted)) {
    text.setAttribute('textLength', width_of(text.textContent, text.getAttribute('font-weight') ?? 400, text.getAttribute('font-size')).toFixed(2));
  }
  return new XMLSerializer().serializeToString(painted);
};
one('#save-json').addEventListener('click', async () => save('report.json', 'application/json', await report_text()));
one('#save-svg').addEventListener('click', () => save('roofline.svg', 'image/svg+xml', svg_text()));
one('#save-png').addEventListener('click', () => {
  const image = new Image();
  image.addEventListener('load', () => {
    const canvas = document.createElement('canvas');
    canvas.width = 2 * image.width;
    canvas.height = 2 * image.height;
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob(blob => save('roofline.png', 'image/png', blob));
  });
  image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(svg_text());
});

// The columns of results.csv: the key, and its path in the report.
const sum = object => Object.values(object ?? {}).reduce((a, b) => a + b, 0);
const csv_columns = {
  workload: r => r.label, op: r => r.workload, implementation: r => r.impl, dtype: r => r.dtype,
  shape: r => Object.entries(r.shape ?? {}).map(([name, extent]) => `${name}=${extent}`).join(' '),
  cache: r => r.cache, status: r => r.status, reason: r => r.reason,
  flops: r => r.work ? sum(r.work.flops) : undefined, bytes: (r, memory) => r.work?.bytes?.[memory],
  arithmetic_intensity: r => r.arithmetic_intensity, ridge: r => r.ridge,
  time_s: r => r.time_s?.median, time_low_s: r => r.time_s?.ci95?.[0], time_high_s: r => r.time_s?.ci95?.[1],
  samples: r => r.time_s?.samples, stop: r => r.time_s?.stop,
  performance_flops_per_s: r => r.performance_flops_per_s, bandwidth_bytes_per_s: r => r.bandwidth_bytes_per_s,
  algorithm_bandwidth_bytes_per_s: r => r.algorithm_bandwidth_bytes_per_s, bus_bandwidth_bytes_per_s: r => r.bus_bandwidth_bytes_per_s,
  bound: r => r.bound ?? 'unknown', limiting_ceiling: r => r.limiting_ceiling, limiting_regime: r => r.limiting_regime,
  attainable_time_s: r => r.attainable_time_s, fraction_of_roof: r => r.fraction_of_roof, above_roof: r => r.above_roof,
  suspect: r => r.suspect ?? false, verification: r => r.verification?.status, error: r => r.verification?.error,
  tolerance: r => r.verification?.tolerance, clock_hz: r => r.time_s?.clock_hz, device: (r, memory, device) => device.name,
  counted_flops: r => r.counted && sum(r.counted.flops), counted_bytes: (r, memory) => r.counted?.bytes?.[memory],
  counted_l2_bytes: r => r.counted?.bytes?.l2, occupancy: r => r.counters?.values?.occupancy,
  diagnosis: r => (r.diagnosis ?? []).map(advice => advice.rule).join(' '),
};
// Only for rows of programs.
const csv_kind_columns = {
  launches: k => k.launches, total_s: k => k.total_s, device_index: k => k.device, module: k => k.module, line: k => k.line,
  range: k => k.range, operation: k => k.operation, backward: k => k.backward, counted: k => k.counted,
  not_counted: k => k.not_counted, full_name: k => k.full_name,
  time_source: k => k.sources?.time_s, work_source: k => k.sources?.work,
  sources: (k, r) => r.impl_summary,
};
const csv_field = value => {
  // Spreadsheets would run such a text as a formula.
  const text = (typeof value === 'string' && /^[=+\-@\t]/.test(value) ? "'" : '') + String(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
one('#save-csv').addEventListener('click', async () => {
  const run = await last_run();
  const device = run.machine.device;
  const memory = device.kind === 'cuda' ? 'hbm' : 'dram';
  const kinds = run.profile ? csv_kind_columns : {};
  const lines = (run.results ?? []).map(r => [...Object.values(csv_columns).map(of => csv_field(of(r, memory, device))),
    ...Object.values(kinds).map(of => csv_field(r.profiled && of(r.profiled, r)))]);
  save('results.csv', 'text/csv', [[...Object.keys(csv_columns), ...Object.keys(kinds)], ...lines].map(line => line.join(',') + '\r\n').join(''));
});

// The current view as Markdown, for a pull request.
const markdown = text => text.replace(/\s+/g, ' ').trim().replace(/[\\`*_[\]|~#<>]/g, '\\$&');
const text_in = (selector, within = document) => one(selector, within) ? markdown(one(selector, within).innerText) : '';
const markdown_row = cells => `| ${cells.join(' | ')} |\n`;
const markdown_table = (titles, lines) => markdown_row(titles) + markdown_row(titles.map((title, i) => i === 0 ? ':--' : '--:')) + lines.map(markdown_row).join('');
// The first line of a cell; the lines below explain it.
const first_line = found => markdown([...found.childNodes].filter(n => n.nodeName !== 'SMALL').map(n => n.textContent).join(' '));
const page_markdown = () => {
  const most = 60;
  let text = `### ${text_in('h1')}\n\n${text_in('.sub')}\n\n`;
  if (one('.answer')) text += `**${text_in('.answer')}**\n\n`;
  const changes = one('#changes');
  if (changes) {
    const body = one('table.sortable', changes);
    if (body) text += markdown_table(column_names(body).map(markdown), [...body.tBodies[0].rows].slice(0, most).map(row => [...row.cells].map(first_line))) + '\n';
  }
  const spend = all('#spend > .spend > li');
  if (spend.length) text += 'Where to spend time:\n\n' + spend.map(item => `1. **${text_in('.saving b', item)}** (${text_in('.chip', item)}): ${markdown([...one('.chip', item).parentNode.childNodes].slice(1).map(n => n.textContent).join(''))} ${text_in('.do', item)}\n`).join('') + '\n';
  if (rows.length && !changes) {
    const names = column_names(results_table);
    const wanted = all('thead th', results_table).flatMap((th, i) => 'copied' in th.dataset ? [i] : []);
    text += markdown_table(wanted.map(i => names[i]), matching.filter(row => !row.untimed).slice(0, most).map(row =>
      wanted.map(i => i === 0 ? markdown(one('bdi', element_of(row)).textContent) : first_line(element_of(row).cells[i]))));
    if (matching.length > most) text += `\nand ${matching.length - most} more.\n`;
  }
  return text;
};
const copy_text = async (button, text) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Local files may not have this clipboard API.
    const area = document.body.appendChild(make('textarea', {class: 'unseen', 'aria-hidden': 'true'}));
    area.value = text;
    area.select();
    document.execCommand('copy');
    area.remove();
    button.focus();
  }
  const words = button.textContent;
  button.textContent = 'Copied';
  live.textContent = 'Copied';
  setTimeout(() => { button.textContent = words; }, 1500);
};
one('#copy-md').addEventListener('click', e => copy_text(e.currentTarget, page_markdown()));
one('#copy-link').addEventListener('click', e => {
  keep_view(false);
  copy_text(e.currentTarget, location.href);
});
