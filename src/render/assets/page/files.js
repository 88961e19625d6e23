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

one('#save-csv').addEventListener('click', async () => save('results.csv', 'text/csv', await unpack('csv')));

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
