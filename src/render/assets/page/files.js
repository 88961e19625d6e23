// Files to take along: the drawing as it came, the rows as results.csv has them, the report.
const save = (name, type, ...parts) => {
  const url = URL.createObjectURL(new Blob(parts, {type}));
  make('a', {download: name, href: url}).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
};
const svg_text = () => new XMLSerializer().serializeToString(drawing);
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

// The columns of results.csv: what a row is called there, and where the report has it.
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
  bound: r => r.bound, limiting_ceiling: r => r.limiting_ceiling, limiting_regime: r => r.limiting_regime,
  attainable_time_s: r => r.attainable_time_s, fraction_of_roof: r => r.fraction_of_roof, above_roof: r => r.above_roof,
  suspect: r => r.suspect, verification: r => r.verification?.status, error: r => r.verification?.error,
  tolerance: r => r.verification?.tolerance, clock_hz: r => r.time_s?.clock_hz, device: (r, memory, device) => device.name,
  counted_flops: r => r.counted && sum(r.counted.flops), counted_bytes: (r, memory) => r.counted?.bytes?.[memory],
  counted_l2_bytes: r => r.counted?.bytes?.l2, occupancy: r => r.counters?.values?.occupancy,
  diagnosis: r => (r.diagnosis ?? []).map(advice => advice.rule).join(' '),
};
// Of a program's rows.
const csv_kind_columns = {
  launches: k => k.launches, total_s: k => k.total_s, device_index: k => k.device, module: k => k.module, line: k => k.line,
  range: k => k.range, operation: k => k.operation, backward: k => k.backward, counted: k => k.counted,
  not_counted: k => k.not_counted, full_name: k => k.full_name,
};
const csv_field = value => {
  const text = String(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
one('#save-csv').addEventListener('click', async () => {
  const run = await last_run();
  const device = run.machine.device;
  const memory = device.kind === 'cuda' ? 'hbm' : 'dram';
  const kinds = run.profile ? csv_kind_columns : {};
  const lines = (run.results ?? []).map(r => [...Object.values(csv_columns).map(of => csv_field(of(r, memory, device))),
    ...Object.values(kinds).map(of => csv_field(r.profiled && of(r.profiled)))]);
  save('results.csv', 'text/csv', [[...Object.keys(csv_columns), ...Object.keys(kinds)], ...lines].map(line => line.join(',') + '\r\n').join(''));
});
