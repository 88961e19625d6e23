// The rows of the table of kernels. In large tables only the first rows are elements; the others are text until they are
// shown, because a browser takes seconds to create ten thousand rows.
const results_table = one('#results');
const row_maker = document.createElement('template');
const plain_text = html => html.replace(/<[^>]*>/g, ' ')
  .replace(/&(lt|gt|quot|amp|#39);/g, (entity, name) => ({lt: '<', gt: '>', quot: '"', amp: '&', '#39': "'"})[name]);
const row_of_element = element => ({
  index: Number(element.id.slice(4)), element, untimed: element.classList.contains('untimed'),
  family: element.dataset.family, dtype: element.dataset.dtype, bound: element.dataset.bound, sort: element.dataset.v,
});
const row_of_text = markup => {
  const head = markup.slice(0, markup.indexOf('>'));
  const value = name => { const found = new RegExp(` data-${name}="([^"]*)"`).exec(head); return found ? plain_text(found[1]) : undefined; };
  return {
    index: Number(/id="row-(\d+)"/.exec(head)[1]), markup, untimed: head.includes('class="untimed"'),
    family: value('family'), dtype: value('dtype'), bound: value('bound'), sort: value('v'),
  };
};
const rows = [...all('#results tbody tr').map(row_of_element),
  ...(one('#later-rows')?.textContent.split('\n') ?? []).filter(line => line.startsWith('<tr id=')).map(row_of_text)];
// Rows that are elements at a time.
const page_of_rows = one('#later-rows') ? all('#results tbody tr').length : Infinity;
const element_of = row => {
  if (!row.element) {
    row_maker.innerHTML = row.markup;
    row.element = row_maker.content.firstElementChild;
  }
  return row.element;
};
// Texts for filters, and sort keys.
const text_of_row = row => row.text ??= (row.markup ? plain_text(row.markup.slice(row.markup.indexOf('>') + 1)) : row.element.textContent).toLowerCase();
const values_of = row => row.values ??= (row.sort ?? '').split(' ').map(Number);

const rows_by_index = new Map(rows.map(row => [row.index, row]));
const row_of = {
  get: index => {
    const row = rows_by_index.get(index);
    return row && element_of(row);
  },
};
const index_of = element => Number(element.id.slice(4));
// A row requested by name is shown, regardless of filters and paging.
let asked_for = null;
const reveal = element => {
  if (element.isConnected) return;
  asked_for = rows_by_index.get(index_of(element));
  show_rows();
};
