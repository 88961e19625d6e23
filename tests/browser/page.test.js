// The HTML report in a real browser: what it shows, what it does, and what it must never do.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { missing, open_session, validator, violations } from './pages.js';

const reason = missing();
// ctest looks for this line.
if (reason) console.log(`browser tests skipped: ${reason}`);

describe('report.html', { skip: reason ?? false }, () => {
  let session;
  before(async () => { session = await open_session(); });
  after(async () => { await session?.close(); });

  /** Runs `check` on an opened page, which must stay free of errors and requests. */
  async function on(name, options, check) {
    const { page, problems, close } = await session.open(name, options);
    try {
      await check(page);
      assert.deepEqual(problems, []);
    } finally {
      await close();
    }
  }

  const names = ['h200', 'cpu', 'stress', 'hostile', 'odd', 'empty'];
  const plottable = async page => page.locator('.roofline-chart [data-point]').count();

  for (const name of names) {
    test(`${name}: loads without errors and requests, scripts on and off`, async () => {
      for (const javaScriptEnabled of [true, false]) {
        await on(`${name}.html`, { javaScriptEnabled }, async page => {
          assert.ok(await page.locator('h1').isVisible());
          assert.ok(await page.locator('.roofline-chart').isVisible());
        });
      }
    });
  }

  test('stays small, and needs nothing from outside', () => {
    const html = session.text('h200.html');
    assert.ok(html.length < 250_000, `${html.length} bytes`);
    assert.doesNotMatch(html, /(src|href)\s*=\s*["']?(https?:)?\/\//i);
  });

  test('is complete without JavaScript', async () => {
    await on('h200.html', { javaScriptEnabled: false }, async page => {
      assert.equal(await page.locator('#results tbody tr').count(), 24);
      assert.equal(await plottable(page), 22);
      assert.ok(await page.locator('#results').getByText('has no tf32 kernel').isVisible());
      assert.ok(await page.locator('#machine').getByText('not cache-resident in L1: doubling').isVisible());
      assert.equal(await page.locator('.tools').isVisible(), false);
      assert.equal(await page.locator('.card:visible').count(), 0);
    });
  });

  test('a point shows its card on hover, and marks its row', async () => {
    await on('h200.html', {}, async page => {
      const mark = page.locator('[data-point="19"]').first();
      await mark.hover({ force: true });
      const card = page.locator('.card:visible');
      assert.equal(await card.count(), 1);
      assert.match(await card.innerText(), /gemm tf32 4096x4096x4096[\s\S]*356 TFLOP\/s[\s\S]*682\.7 FLOP\/byte/);
      assert.match(await page.locator('tr.on').innerText(), /gemm tf32/);
      await page.mouse.move(5, 5);
      assert.equal(await page.locator('.card:visible').count(), 0);
    });
  });

  test('rows and ceilings show cards too; Escape hides them', async () => {
    await on('h200.html', {}, async page => {
      // Scrolling hides cards, and its event comes a frame late: let it pass before the pointer moves.
      await page.locator('#row-3').scrollIntoViewIfNeeded();
      await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
      await page.locator('#row-3').hover();
      assert.match(await page.locator('.card:visible').innerText(), /reduction fp32/);
      await page.keyboard.press('Escape');
      assert.equal(await page.locator('.card:visible').count(), 0);
      await page.locator('[data-ceiling="l2.read"]').first().focus();
      assert.match(await page.locator('.card:visible').innerText(), /Suspect/);
    });
  });

  test('the keyboard walks the points by intensity, and Enter goes to the row', async () => {
    await on('h200.html', {}, async page => {
      const focused = () => page.evaluate(() => document.activeElement?.dataset?.point);
      for (let i = 0; i < 40 && (await focused()) === undefined; ++i) await page.keyboard.press('Tab');
      const intensities = [];
      const report = JSON.parse(await page.locator('#report').textContent());
      const count = await plottable(page);
      for (let i = 0; i < count; ++i) {
        assert.equal(await page.locator('.card:visible').count(), 1);
        intensities.push(report.results[await focused()].arithmetic_intensity);
        await page.keyboard.press('ArrowRight');
      }
      assert.deepEqual(intensities, [...intensities].sort((a, b) => a - b));
      assert.equal(intensities.length, 22);
      const index = await focused();
      assert.equal(report.results[index].arithmetic_intensity, intensities[0], 'walks in a circle');
      await page.keyboard.press('Enter');
      assert.equal(await page.evaluate(() => document.activeElement.id), `row-${index}`);
    });
  });

  test('columns sort both ways, and rows without a time stay last', async () => {
    await on('h200.html', {}, async page => {
      const values = () => page.$$eval('#results tbody tr', rows => rows.map(r => Number(r.cells[1].dataset.v)));
      const button = page.locator('#results thead').getByRole('button', { name: 'Time' });
      for (const direction of [1, -1]) {
        await button.click();
        const seen = await values();
        const timed = seen.slice(0, 22);
        assert.deepEqual(timed, [...timed].sort((a, b) => direction * (a - b)));
        assert.ok(seen.slice(22).every(Number.isNaN));
      }
      assert.equal(await page.locator('#results th[aria-sort]').getAttribute('aria-sort'), 'descending');
    });
  });

  test('a legend entry hides its family in chart and table', async () => {
    await on('h200.html', {}, async page => {
      const key = page.locator('.roofline-chart [data-family="attention"]:not([data-point])').first();
      await key.click();
      assert.equal(await page.locator('#results tbody tr:visible').count(), 20);
      assert.equal(await page.locator('[data-point]:visible').count(), 19);
      assert.equal(await key.getAttribute('aria-pressed'), 'false');
      await key.focus();
      await page.keyboard.press('Enter');
      assert.equal(await page.locator('#results tbody tr:visible').count(), 24);
    });
  });

  test('the filter leaves the rows that match', async () => {
    await on('h200.html', {}, async page => {
      await page.locator('#filter').fill('gemm fp16');
      assert.equal(await page.locator('#results tbody tr:visible').count(), 2);
      await page.locator('#filter').fill('no such kernel');
      assert.ok(await page.locator('#none').isVisible());
    });
  });

  test('the theme follows the system until it is chosen', async () => {
    for (const colorScheme of ['light', 'dark']) {
      await on('h200.html', { colorScheme }, async page => {
        const ink = () => page.evaluate(() => [getComputedStyle(document.body).backgroundColor,
          getComputedStyle(document.querySelector('.roofline-chart .background')).fill]);
        const light = ['rgb(255, 255, 255)', 'rgb(255, 255, 255)'];
        const dark = ['rgb(13, 17, 23)', 'rgb(13, 17, 23)'];
        assert.deepEqual(await ink(), colorScheme === 'dark' ? dark : light);
        await page.locator('#theme').click();
        assert.deepEqual(await ink(), light);
        await page.locator('#theme').click();
        assert.deepEqual(await ink(), dark);
      });
    }
  });

  for (const width of [380, 760, 1024]) {
    test(`no page wider than a window of ${width} px`, async () => {
      for (const name of names) {
        await on(`${name}.html`, { viewport: { width, height: 800 } }, async page => {
          const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(excess <= 0, `${name}: ${excess} px too wide`);
        });
      }
    });
  }

  for (const name of names) {
    test(`${name}: axe finds nothing, in both themes and on a narrow screen`, async () => {
      for (const [colorScheme, width] of [['light', 1280], ['dark', 1280], ['light', 380]]) {
        const { page, close } = await session.open(`${name}.html`, { colorScheme, viewport: { width, height: 900 } });
        assert.deepEqual(await violations(page), [], `${colorScheme}, ${width} px`);
        await close();
      }
    });
  }

  test('a hostile report runs nothing and keeps its shape', async () => {
    await on('hostile.html', {}, async page => {
      for (const mark of await page.locator('[data-point]').all()) await mark.dispatchEvent('pointermove');
      for (const row of await page.locator('#results tbody tr').all()) await row.dispatchEvent('pointermove');
      assert.equal(await page.evaluate(() => window.pwned), undefined);
      assert.equal(await page.locator('script').count(), 2);
      assert.equal(await page.locator('img').count(), 0);
      assert.equal(await page.locator('#results tbody tr').count(), 24);
      const report = JSON.parse(await page.locator('#report').textContent());
      assert.match(JSON.stringify(report), /<\/script><script>window\.pwned=1/);
    });
  });

  test('the policy allows no script but the page’s own', async () => {
    const { page, close } = await session.open('h200.html');
    await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'window.intruder = 1';
      document.body.append(script);
      document.body.insertAdjacentHTML('beforeend', '<i onclick="window.intruder = 2" id="bait">x</i>');
      document.querySelector('#bait').click();
    });
    assert.equal(await page.evaluate(() => window.intruder), undefined);
    await close();
  });

  test('what a sick run has is shown, not hidden', async () => {
    await on('odd.html', {}, async page => {
      const row = i => page.locator(`#row-${i}`).innerText();
      assert.match(await row(0), /130\.0 %[\s\S]*above its roof/);
      assert.match(await row(1), /no FLOPs/);
      assert.match(await row(2), /time.limit[\s\S]*drifting/);
      assert.match(await row(4), /unknown/);
      assert.ok(await page.locator('#times').getByText('relu fp16').first().isVisible());
    });
  });

  test('the embedded JSON is the report, and valid', async t => {
    const schema_file = new URL('../../docs/schema/report.schema.json', import.meta.url);
    if (!existsSync(schema_file)) return t.skip('docs/schema/report.schema.json is missing');
    const validate = validator(JSON.parse(readFileSync(schema_file, 'utf8')));
    for (const name of ['h200', 'cpu', 'stress', 'hostile', 'odd']) {
      await on(`${name}.html`, {}, async page => {
        const embedded = JSON.parse(await page.locator('#report').textContent());
        assert.deepEqual(embedded, JSON.parse(session.text(`${name}.json`)));
        assert.ok(validate(embedded), `${name}: ${JSON.stringify(validate.errors?.slice(0, 5))}`);
      });
    }
  });

  test('prints: white, without controls, chart and table on paper', async () => {
    await on('h200.html', { colorScheme: 'dark' }, async page => {
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      assert.equal(await page.evaluate(() => getComputedStyle(document.body).color), 'rgb(31, 35, 40)');
      assert.equal(await page.locator('.tools').isVisible(), false);
      assert.ok(await page.locator('.roofline-chart').isVisible());
      const pdf = await page.pdf({ format: 'A4', landscape: true });
      assert.equal(pdf.subarray(0, 4).toString(), '%PDF');
    });
  });
});
