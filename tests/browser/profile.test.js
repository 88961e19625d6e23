// The page of a profiled program in a real browser: folding, the timeline, narrow windows. Its
// accessibility is with that of all pages.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { downloaded, embedded, missing, share_session, validator } from './pages.js';

const reason = missing();
if (reason) console.log(`browser tests skipped: ${reason}`);

describe('report.html of a profile', { skip: reason ?? false }, () => {
  const shared = share_session();
  let session;
  before(async () => { session = await shared.open(); });
  after(() => shared.close());

  const on = (name, options, check) => session.on(name, options, check);
  const names = ['profile', 'profile-steps', 'profile-uncounted', 'profile-small', 'profile-hostile', 'profile-two'];

  for (const name of names) {
    test(`${name}: nothing is wider than a phone`, async () => {
      await on(`${name}.html`, { viewport: { width: 390, height: 800 } }, async page => {
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
        assert.equal(await page.evaluate(() => window.pwned), undefined);
      });
    });
  }

  test('the file in the page is by its schema', async () => {
    const schema = new URL('../../docs/schema/report.schema.json', import.meta.url);
    const validate = validator(JSON.parse(readFileSync(schema, 'utf8')));
    for (const name of ['profile', 'profile-steps', 'profile-uncounted', 'profile-small']) {
      await on(`${name}.html`, {}, async page => {
        assert.ok(validate(await embedded(page)), JSON.stringify(validate.errors?.slice(0, 3)));
      });
    }
  });

  test('the answer is what is seen first, and a saving links to its row', async () => {
    await on('profile.html', {}, async page => {
      const answer = await page.locator('.answer').boundingBox();
      assert.ok(answer.y < 200, `${answer.y}`);
      assert.match(await page.locator('.answer').innerText(), /6\.90 s of wall time.*2\.27 s/);
      // The parts as shown add up to the whole as shown.
      const parts = await page.locator('#answer .parts b').allInnerTexts();
      const sum = parts.reduce((all, text) => all + Math.round(100 * parseFloat(text)), 0);
      assert.equal(sum, 690);
      const first = await page.locator('.spend li').first().locator('p').first().innerText();
      await page.locator('#verdicts a[href^="#row-"]').first().click();
      assert.ok(first.length > 10);
      assert.equal(await page.locator('#results tr.sel').count(), 1);
    });
  });

  test('trees fold, also without script', async () => {
    await on('profile.html', { javaScriptEnabled: false }, async page => {
      const part = page.locator('#modules summary', { hasText: 'attn' }).first();
      assert.equal(await part.isVisible(), false);
      await page.locator('#modules summary', { hasText: /^0/ }).first().click();
      assert.equal(await part.isVisible(), true);
    });
    await on('profile.html', {}, async page => {
      await page.locator('#modules [data-fold=open]').click();
      assert.equal(await page.locator('#modules details:not([open])').count(), 0);
      await page.locator('#modules [data-fold=close]').click();
      assert.equal(await page.locator('#modules details[open]').count(), 0);
    });
  });

  test('the timeline zooms by button, key and wheel, moves when dragged, and comes back', async () => {
    await on('profile.html', {}, async page => {
      const window_of = () => page.evaluate(() => {
        const inner = document.querySelector('#timeline .window');
        return [parseFloat(inner.getAttribute('x') ?? 0), parseFloat(inner.getAttribute('width'))];
      });
      const settled = () => page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
      const timeline = page.locator('#timeline');
      await timeline.scrollIntoViewIfNeeded();
      const ticks = await page.locator('#timeline .ticks text').allTextContents();
      await page.locator('#timeline-in').click();
      await settled();
      assert.equal(Math.round((await window_of())[1]), 160);
      await timeline.focus();
      await page.keyboard.press('+');
      await settled();
      const [x, width] = await window_of();
      assert.equal(Math.round(width), 256);
      assert.notDeepEqual(await page.locator('#timeline .ticks text').allTextContents(), ticks);
      assert.equal(await page.locator('.roofline-chart.zoomed').count(), 0, 'the chart keeps its own view');
      const box = await timeline.boundingBox();
      await page.mouse.move(box.x + 300, box.y + 45);
      await page.mouse.down();
      await page.mouse.move(box.x + 500, box.y + 45, { steps: 4 });
      await page.mouse.up();
      await settled();
      assert.ok((await window_of())[0] > x, 'dragged to the right, earlier times come in');
      await page.mouse.wheel(0, -300);
      await settled();
      assert.ok((await window_of())[1] > width);
      await timeline.focus();
      await page.keyboard.press('0');
      await settled();
      assert.deepEqual(await window_of(), [0, 100]);
    });
  });

  test('the timeline says what a bar is, by pointer and by keyboard, and leads to its row', async () => {
    await on('profile.html', {}, async page => {
      const timeline = page.locator('#timeline');
      await timeline.scrollIntoViewIfNeeded();
      const box = await page.locator('#timeline .names svg', { hasText: 'softmax_warp_forward' }).first().boundingBox();
      await page.mouse.move(box.x + 3, box.y + box.height / 2);
      assert.match(await page.locator('.card:visible').innerText(), /softmax_warp_forward_log[\s\S]*1\.59 ms, from[\s\S]*stream 7/);
      await timeline.focus();
      await page.keyboard.press('ArrowRight');
      const first = await page.locator('#live').textContent();
      assert.match(first, /thread 4711/, 'the host is above');
      await page.keyboard.press('ArrowRight');
      assert.notEqual(await page.locator('#live').textContent(), first);
      await page.keyboard.press('ArrowDown');
      assert.match(await page.locator('#live').textContent(), /GPU 0, stream 7/);
      await page.keyboard.press('ArrowDown');
      assert.match(await page.locator('#live').textContent(), /stream 13/);
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Enter');
      assert.equal(await page.evaluate(() => /^row-\d+$/.test(document.activeElement.id)), true);
    });
  });

  test('the search of the timeline marks what it finds, counts it, and leads to it', async () => {
    await on('profile-steps.html', {}, async page => {
      const search = page.locator('#timeline-search');
      const found = page.locator('#timeline-found');
      const marked = page.locator('#timeline rect.hit');
      await search.fill('SOFTMAX_warp_forward');
      assert.match(await found.innerText(), /^\d+ bars?, .*s, \d+\.\d %$/);
      const count = await marked.count();
      assert.equal(count, parseInt(await found.innerText()));
      assert.ok(count > 0 && count < await page.locator('#timeline rect').count());
      await search.press('Enter');
      assert.match(await page.locator('#live').textContent(), /softmax_warp_forward/);
      await search.fill('train.py:41');
      assert.ok(await marked.count() >= 2, 'a line is found in samples and in idle times');
      await search.fill('no such kernel');
      assert.equal(await marked.count(), 0);
      assert.doesNotMatch(await found.innerText(), /\d/);
      await search.press('Escape');
      assert.equal(await search.inputValue(), '');
      assert.equal(await page.locator('#timeline.searching').count(), 0);
    });
  });

  test('a bar that is too narrow to be seen is zoomed to', async () => {
    await on('profile-steps.html', {}, async page => {
      const search = page.locator('#timeline-search');
      await search.fill('cudaLaunchKernel');
      await search.press('Enter');
      await page.waitForFunction(() => document.querySelector('#timeline rect.cur')?.getBoundingClientRect().width > 20);
      const [bar, chart] = [await page.locator('#timeline rect.cur').boundingBox(), await page.locator('#timeline').boundingBox()];
      assert.ok(bar.x >= chart.x && bar.x + bar.width <= chart.x + chart.width);
    });
  });

  test('lanes of the timeline: host above GPU, each kind in its colour', async () => {
    await on('profile-steps.html', {}, async page => {
      const names = await page.locator('#timeline .lane-name').allTextContents();
      assert.deepEqual(names, ['thread 4711: CUDA calls', 'thread 4711: samples', 'GPU 0, stream 7', 'GPU 0, stream 13', 'GPU 0: idle']);
      const fills = await page.evaluate(() => ['idle', 'run', 'call'].map(name => getComputedStyle(document.querySelector(`#timeline .${name}`)).fill));
      assert.equal(new Set(fills).size, 3, fills.join());
      const idle = page.locator('#timeline rect.idle');
      assert.equal(await idle.count(), 2);
      await idle.last().scrollIntoViewIfNeeded();
      await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
      const box = await idle.last().boundingBox();
      await page.mouse.move(box.x + box.width / 2, box.y + 5);
      assert.match(await page.locator('.card:visible').innerText(), /40 bars/);
    });
  });

  test('a flame graph zooms to the bar that is clicked, and back', async () => {
    await on('profile-steps.html', {}, async page => {
      const bars = page.locator('#flame-gpu rect');
      const settled = () => page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
      await page.locator('#flame-gpu').scrollIntoViewIfNeeded();
      const chart = await page.locator('#flame-gpu').boundingBox();
      const narrow = await page.evaluate(() => [...document.querySelectorAll('#flame-gpu rect')]
        .findIndex(bar => parseFloat(bar.getAttribute('width')) < 20 && parseFloat(bar.getAttribute('width')) > 5));
      assert.ok(narrow > 0);
      await bars.nth(narrow).click({ force: true });
      await settled();
      const box = await bars.nth(narrow).boundingBox();
      assert.ok(Math.abs(box.width - chart.width) < 3, `${box.width} of ${chart.width}`);
      await page.locator('#flame-gpu').focus();
      await page.keyboard.press('0');
      await settled();
      assert.ok((await bars.nth(narrow).boundingBox()).width < chart.width / 4);
      for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
      await settled();
      assert.ok(await page.evaluate(() => parseFloat(document.querySelector('#flame-gpu .window').getAttribute('width')) > 100));
    });
  });

  test('flame graphs: no row is longer than the one above, and the search marks frames', async () => {
    await on('profile-steps.html', {}, async page => {
      for (const id of ['flame-gpu', 'flame-cpu', 'flame-wait']) {
        const widths = await page.evaluate(id => [...document.querySelectorAll(`#${id} .lane`)].map(lane =>
          [...lane.querySelectorAll('rect')].reduce((sum, bar) => sum + parseFloat(bar.getAttribute('width')), 0)), id);
        assert.ok(Math.abs(widths[0] - 100) < 0.1, `${id}: ${widths[0]}`);
        for (let row = 1; row < widths.length; ++row) assert.ok(widths[row] < widths[row - 1] + 0.1, `${id}: ${widths}`);
      }
      await page.locator('#flame-cpu-search').fill('train.py:12');
      assert.match(await page.locator('#flame-cpu-found').innerText(), /^1 bar, 3 s, 100/);
    });
  });

  test('is complete without script: names of long bars, tool tips, every row', async () => {
    await on('profile.html', { javaScriptEnabled: false }, async page => {
      assert.equal(await page.locator('#results tbody tr').count(), 37);
      assert.ok(await page.locator('#timeline text', { hasText: 'cudaStreamSynchronize' }).isVisible());
      assert.ok(await page.locator('#timeline .lane title').count() > 50);
      assert.equal(await page.locator('#time .zoom').isVisible(), false);
      assert.equal(await page.locator('#timeline-search').isVisible(), false);
      assert.ok(await page.locator('#flame-gpu text', { hasText: 'GPU 0' }).isVisible());
      assert.ok(await page.locator('#flame-gpu title').count() > 20);
    });
  });

  test('a large mark is found at its edge, and its card tells of its launches', async () => {
    await on('profile.html', {}, async page => {
      const mark = page.locator('.point[aria-label*="softmax_warp_backward_log"]').first();
      await mark.scrollIntoViewIfNeeded();
      // Scrolling hides cards, and its event comes a frame late.
      await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
      const box = await mark.boundingBox();
      await page.mouse.move(box.x + 3, box.y + box.height / 2);
      const card = page.locator('.card:visible');
      await card.getByText('Full name').waitFor();  // loaded after the card is shown
      assert.match(await card.innerText(), /softmax_warp_backward_log[\s\S]*Launches\s*400[\s\S]*Full name/);
    });
  });

  test('the CSV that a page saves is the one of the file', async () => {
    await on('profile.html', {}, async page => {
      const saved = String(await downloaded(page, '#save-csv'));
      assert.equal(saved, session.text('profile.csv'));
      assert.match(saved.split('\r\n')[1], /,embed,model\.py:52 forward,step\/forward,/);
    });
  });

  test('two profiles show first what changed in total', async () => {
    await on('profile-two.html', {}, async page => {
      assert.match(await page.locator('#changes .findings').innerText(), /Wall time|All kernels/);
      const rows = await page.locator('#changes table.sortable').first().locator('tbody tr:visible').allInnerTexts();
      assert.match(rows[0], /softmax_warp_backward_log[\s\S]*−803 ms/);
      assert.ok(rows.length < 5, `${rows.length}`);
    });
  });

  test('on a phone each figure of a kernel has the name of its own column', async () => {
    await on('profile.html', { viewport: { width: 390, height: 800 } }, async page => {
      const [shown, titles] = await page.evaluate(() => [
        [...document.querySelectorAll('#results tbody tr:first-child td')].map(td => getComputedStyle(td, '::before').content),
        [...document.querySelectorAll('#results thead th')].slice(1).map(th => JSON.stringify(th.textContent))]);
      assert.deepEqual(shown, titles);
    });
  });

  test('prints', async () => {
    await on('profile.html', {}, async page => {
      await page.emulateMedia({ media: 'print' });
      assert.equal(await page.locator('.tools, .folds').first().isVisible(), false);
      assert.ok(await page.locator('.budget-bar').isVisible());
      assert.ok((await page.pdf({ format: 'A4' })).length > 20_000);
    });
  });

  // What is wider shrinks the whole print; what is higher than a page leaves the one before it empty.
  test('prints in the width of A4 and Letter, and no drawing is higher than half a page', async () => {
    for (const name of ['profile', 'profile-steps']) {
      for (const [paper, width, height] of [['A4', 703, 1031], ['Letter', 725, 965]]) {
        await on(`${name}.html`, { viewport: { width, height } }, async page => {
          await page.emulateMedia({ media: 'print' });
          assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width, `${name} on ${paper}`);
          const heights = await page.locator('.flame .bar-scroll').evaluateAll(all => all.map(e => e.getBoundingClientRect().height));
          for (const one of heights) assert.ok(one <= height / 2, `${name} on ${paper}: ${one} px`);
        });
      }
    }
  });
});
