// How long a page of ten thousand rows takes: the first view, a filter, a sort. Prints figures and judges nothing, for
// they are the machine's: ROOFLINE_SAMPLE_PAGES=… node rows_benchmark.js
import { missing, open_session } from './pages.js';

const reason = missing();
if (reason) {
  console.log(reason);
  process.exit(1);
}
const session = await open_session();
const { page, close } = await session.open('huge.html', { viewport: { width: 1440, height: 900 } });
await page.waitForTimeout(2000);
const load = await page.evaluate(() => ({
  'first view': performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
  'whole page': performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd,
}));
for (const [what, ms] of Object.entries(load)) console.log(`${what}: ${Math.round(ms)} ms`);

// Until the script is done, and until the rows are laid out.
const timed = (what, act, argument) => page.evaluate(async ([source, argument]) => {
  const begin = performance.now();
  new Function('argument', source)(argument);
  const script = performance.now() - begin;
  document.querySelector('#results').getBoundingClientRect();
  return [script, performance.now() - begin].map(Math.round);
}, [act, argument]).then(([script, all]) => console.log(`${what}: ${all} ms, ${script} of them script`));
const filter = "const input = document.querySelector('#filter'); input.value = argument; input.dispatchEvent(new Event('input'));";
for (const words of ['kernel_9', 'kernel_99', 'fp16 gemm', '']) await timed(`filter '${words}'`, filter, words);
const sort = "document.querySelectorAll('#results thead th button')[argument].click();";
for (const column of [2, 2, 5, 0]) await timed(`sort by column ${column}`, sort, column);
await timed('chip', "document.querySelector('#chips button').click();");
await close();
await session.close();
