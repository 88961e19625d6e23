// Script, report and its rows are embedded compressed, in base 85 of RFC 1924 with a comma instead of '<'; this part unpacks them.
const unpack = async id => {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~';
  const text = document.getElementById(id).textContent;
  const groups = new DataView(new ArrayBuffer(4 * Math.ceil(text.length / 5)));
  for (let at = 0; at < text.length; at += 5) {
    let group = 0;
    for (const digit of text.slice(at, at + 5).padEnd(5, '~')) group = 85 * group + digits.indexOf(digit);
    groups.setUint32(at / 5 * 4, group);
  }
  const bytes = new Uint8Array(groups.buffer, 0, Math.floor(text.length / 5 * 4));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'))).text();
};
// Narrow windows have charts of their own, of a phone and of a tablet; the wide one is what the page saves, and has the
// titles and data of all.
const wide_chart = document.querySelector('.roofline-chart');
const narrow_chart = [760, 1000].findIndex(width => matchMedia(`screen and (max-width:${width}px)`).matches);
const take_narrow_chart = charts => {
  wide_chart.insertAdjacentHTML('beforebegin', charts);
  const both = document.querySelectorAll('.roofline-chart');
  const chart = both[narrow_chart];
  for (const group of chart.querySelectorAll('g[id]')) {
    const from = wide_chart.querySelector(`[id="${CSS.escape(group.id)}"]`);
    for (const {name, value} of from?.attributes ?? []) if (!group.hasAttribute(name)) group.setAttribute(name, value);
    const title = from?.querySelector('title');
    if (title) group.prepend(title.cloneNode(true));
  }
  for (const other of both) if (other !== chart) other.remove();
};
Promise.all([unpack('code'), wide_chart && narrow_chart >= 0 ? unpack('narrow-charts') : null]).then(([text, charts]) => {
  if (charts) take_narrow_chart(charts);
  const script = document.createElement('script');
  script.textContent = text;
  document.body.append(script);
});
