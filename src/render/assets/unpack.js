// Script and report are embedded compressed, in base 85 of RFC 1924 with a comma instead of '<'; this part unpacks them.
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
// A narrow window has a chart of its own; the other one is what the page saves.
const wide_chart = document.querySelector('.roofline-chart');
const narrow_chart = wide_chart && matchMedia('(max-width:760px)').matches ? unpack('narrow-chart') : null;
Promise.all([unpack('code'), narrow_chart]).then(([text, narrow]) => {
  if (narrow) {
    wide_chart.insertAdjacentHTML('beforebegin', narrow);
    wide_chart.remove();
  }
  const script = document.createElement('script');
  script.textContent = text;
  document.body.append(script);
});
