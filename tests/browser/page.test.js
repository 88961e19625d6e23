// The HTML report in a real browser: what it shows, what it does, and what it must never do.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { downloaded, embedded, missing, share_session, validator, violations } from './pages.js';

const reason = missing();
// ctest looks for this line.
if (reason) console.log(`browser tests skipped: ${reason}`);

describe('report.html', { skip: reason ?? false }, () => {
  const shared = share_session();
  let session;
  before(async () => { session = await shared.open(); });
  after(() => shared.close());

  const on = (name, options, check) => session.on(name, options, check);

  const names = ['h200', 'counted', 'cpu', 'stress', 'hostile', 'odd', 'empty', 'many', 'two',
    'profile', 'profile-steps', 'profile-uncounted', 'profile-small', 'profile-hostile', 'profile-two'];
  const plottable = async page => page.locator('.layer-points .point').count();

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
    assert.ok(html.length < 220_000, `${html.length} bytes`);
    assert.doesNotMatch(html, /(src|href)\s*=\s*["']?(https?:)?\/\//i);
  });

  test('shows what was counted: a table, advice, and on hover the marks of a point', async () => {
    assert.ok(session.text('counted.html').length < 250_000);
    await on('counted.html', {}, async page => {
      assert.equal(await page.locator('#counted').isVisible(), false, 'folded');
      await page.locator('.toc a', { hasText: 'Counters' }).click();
      assert.equal(await page.locator('#counted tbody tr:visible').count(), 22);
      assert.match(await page.locator('#verdict-13').innerText(), /attention fp16[\s\S]*41\.0 %[\s\S]*tensor-idle/);
      const shown = page.locator('.overlay [data-of="13"]:is(.hierarchy, .pipes)');
      assert.equal(await page.locator('.hierarchy:visible, .pipes:visible').count(), 0, 'hidden until asked for');
      await page.locator('#point-13').hover({ force: true });
      assert.equal(await shown.locator('visible=true').count(), 2);
      assert.match((await page.locator('.overlay').textContent()), /fp32: 34\.4 TFLOP\/s, counted/);
      assert.match(await page.locator('.card:visible').innerText(), /Verdict[\s\S]*Next/);
      await page.mouse.move(5, 5);
      await page.keyboard.press('Escape');
      assert.equal(await shown.count(), 0);
    });
    await on('counted.html', { javaScriptEnabled: false }, async page => {
      assert.equal(await page.locator('.hierarchy:visible, .pipes:visible').count(), 0);
    });
  });

  test('a switch shows what was counted of all kernels that are shown', async () => {
    await on('counted.html', {}, async page => {
      const shown = page.locator('.made :is(.hierarchy, .pipes)');
      const button = page.locator('#all-counted');
      await button.click();
      await frames(page);
      const all = await shown.count();
      assert.equal(all, await page.evaluate(() => document.querySelectorAll('.layer-counted > g').length));
      assert.ok(all > 8, `${all} groups`);
      await page.locator('#filter').fill('attention');
      await frames(page);
      const some = await shown.count();
      assert.ok(some > 0 && some < all / 2, `${some} of ${all}`);
      await page.locator('#filter').fill('');
      await button.click();
      await frames(page);
      assert.equal(await shown.count(), 0);
      assert.equal(await button.getAttribute('aria-pressed'), 'false');
    });
    await on('h200.html', {}, async page => assert.equal(await page.locator('#all-counted').count(), 0));
  });

  test('filters hide the paths of their points, arrowheads too', async () => {
    await on('h200.html', {}, async page => {
      const visible = () => page.$$eval('.trajectory', list => list.filter(e => getComputedStyle(e).display !== 'none').length);
      const all = await visible();
      assert.ok(all >= 2, `${all} paths`);
      await page.locator('#filter').fill('gemm fp16');
      assert.equal(await visible(), 1);
      await page.locator('#filter').fill('cublas');  // the plainer implementation is gone
      assert.equal(await visible(), 0);
      await page.locator('#filter').fill('');
      assert.equal(await visible(), all);
    });
    await on('two.html', {}, async page => {
      const visible = () => page.$$eval('.change', list => list.filter(e => getComputedStyle(e).display !== 'none').length);
      const before = await visible();
      assert.ok(before >= 2, `${before} changes`);
      await page.locator('.legend-family[data-family="attention"]').click();
      assert.equal(await visible(), before - 1);
      await page.locator('#filter').fill('relu');
      assert.equal(await visible(), 0);
    });
  });

  test('is complete without JavaScript', async () => {
    await on('h200.html', { javaScriptEnabled: false }, async page => {
      assert.equal(await page.locator('#results tbody tr').count(), 24);
      assert.equal(await plottable(page), 22);
      assert.ok(await page.locator('#results').getByText('has no tf32 kernel').isVisible());
      await page.locator('#device > summary').click();
      assert.ok(await page.locator('#machine').getByText('not cache-resident in L1: doubling').isVisible());
      assert.equal(await page.locator('.tools').isVisible(), false);
      assert.equal(await page.locator('.card:visible').count(), 0);
    });
  });

  test('a point shows its card on hover, and marks its row', async () => {
    await on('h200.html', {}, async page => {
      const mark = page.locator('#point-19');
      await mark.hover({ force: true });
      const card = page.locator('.card:visible');
      assert.equal(await card.count(), 1);
      assert.match(await card.innerText(), /gemm tf32 4096x4096x4096[\s\S]*356 TFLOP\/s[\s\S]*682\.7/);
      assert.match(await page.locator('tr.on').innerText(), /gemm tf32/);
      await page.mouse.move(5, 5);
      assert.equal(await page.locator('.card:visible').count(), 0);
    });
  });

  test('scrolling hides a card, but not the late event of a scroll before it was shown', async () => {
    await on('h200.html', {}, async page => {
      await page.locator('#point-19').hover({ force: true });
      await frames(page);
      await page.evaluate(() => dispatchEvent(new Event('scroll')));
      assert.equal(await page.locator('.card:visible').count(), 1);
      await page.evaluate(() => scrollBy(0, 40));
      await page.locator('.card').waitFor({ state: 'hidden' });
    });
  });

  test('rows and ceilings show cards too; Escape hides them', async () => {
    await on('h200.html', {}, async page => {
      await page.locator('#row-3').hover();
      assert.match(await page.locator('.card:visible').innerText(), /reduction fp32/);
      await page.keyboard.press('Escape');
      assert.equal(await page.locator('.card:visible').count(), 0);
      await page.locator('[data-ceiling="l2.read"]').first().focus();
      assert.match(await page.locator('.card:visible').innerText(), /suspect[\s\S]*not cache-resident/);
    });
  });

  test('the keyboard walks the points by intensity, and Enter goes to the row', async () => {
    await on('h200.html', {}, async page => {
      const focused = () => page.evaluate(() => document.activeElement?.dataset?.point);
      for (let i = 0; i < 40 && (await focused()) === undefined; ++i) await page.keyboard.press('Tab');
      const intensities = [];
      const report = await embedded(page);
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
      const values = () => page.$$eval('#results tbody tr', rows => rows.map(r => Number((r.dataset.v ?? '').split(' ')[2] || NaN)));
      const button = page.locator('#results thead').getByRole('button', { name: 'Time' });
      for (const direction of [1, -1]) {
        await button.click();
        const seen = await values();
        const timed = seen.slice(0, 22);
        assert.deepEqual(timed, [...timed].sort((a, b) => direction * (a - b)));
        assert.equal(timed.length, 22);
        assert.ok(timed.every(value => value > 0));
        assert.ok(seen.slice(22).every(Number.isNaN));
      }
      assert.equal(await page.locator('#results th[aria-sort]').getAttribute('aria-sort'), 'descending');
    });
  });

  test('a legend entry hides its family in chart and table', async () => {
    await on('h200.html', {}, async page => {
      const key = page.locator('.legend-family[data-family="attention"]');
      await key.click();
      assert.equal(await page.locator('#results tbody tr:visible').count(), 20);
      assert.equal(await page.locator('.point:visible').count(), 19);
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
        await on(`${name}.html`, { colorScheme, viewport: { width, height: 900 } }, async page => {
          assert.deepEqual(await violations(page), [], `${colorScheme}, ${width} px`);
        });
      }
    });
  }

  test('a hostile report runs nothing and keeps its shape', async () => {
    await on('hostile.html', {}, async page => {
      for (const mark of await page.locator('.point').all()) await mark.hover({ force: true });
      for (const row of await page.locator('#results tbody tr').all()) await row.hover({ force: true });
      for (const button of await page.locator('#chips button').all()) await button.click();
      await page.locator('#zoom-in').click();
      assert.equal(await page.evaluate(() => window.pwned), undefined);
      assert.equal(await page.locator('script').count(), 6, 'the report, its rows, narrow charts, the packed script, what unpacks it, and the script');
      assert.equal(await page.locator('img').count(), 0);
      assert.equal(await page.locator('#results tbody tr').count(), 24);
      const report = await embedded(page);
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
      assert.match(await row(0), /130\.0 %[\s\S]*partly cached/);
      assert.match(await row(1), /no FLOPs/);
      assert.match(await row(2), /drifting[\s\S]*measure again/);
      assert.match(await row(4), /unknown/);
    });
  });

  test('the embedded JSON is the report, and valid', async t => {
    const schema_file = new URL('../../docs/schema/report.schema.json', import.meta.url);
    if (!existsSync(schema_file)) return t.skip('docs/schema/report.schema.json is missing');
    const validate = validator(JSON.parse(readFileSync(schema_file, 'utf8')));
    for (const name of ['h200', 'cpu', 'stress', 'hostile', 'odd']) {
      await on(`${name}.html`, {}, async page => {
        const report = await embedded(page);
        assert.deepEqual(report, JSON.parse(session.text(`${name}.json`)));
        assert.ok(validate(report), `${name}: ${JSON.stringify(validate.errors?.slice(0, 5))}`);
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

  // What zooming must keep: a point's place is where the axes say, text stays as large as it was, no names overlap.
  const shape = page => page.evaluate(() => {
    const boxes = selector => [...document.querySelectorAll(selector)].filter(e => e.checkVisibility?.() ?? true)
      .map(e => e.getBoundingClientRect()).filter(b => b.width > 0).map(b => [b.left, b.top, b.right, b.bottom]);
    const svg = document.querySelector('.roofline-chart');
    const matrix = svg.getScreenCTM();
    const { plotX, plotY, plotWidth, plotHeight } = svg.dataset;
    return {
      points: [...document.querySelectorAll('.layer-points .point:not(.out)')].map(p => {
        const b = p.lastElementChild.getBoundingClientRect();
        return { index: p.dataset.point, x: (b.left + b.right) / 2, y: (b.top + b.bottom) / 2, width: b.width };
      }),
      plot: [Number(plotX), Number(plotY), Number(plotX) + Number(plotWidth), Number(plotY) + Number(plotHeight)]
        .map((v, i) => i % 2 ? v * matrix.d + matrix.f : v * matrix.a + matrix.e),
      names: boxes('.made text:not(.tick)'),
      ticks: [...document.querySelectorAll('.made .tick')].map(t => t.textContent),
    };
  });
  const frames = page => page.evaluate(() => new Promise(done =>
    requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));

  const chart_in_sight = async page => {
    await page.locator('.roofline-chart').evaluate(e => e.scrollIntoView({ block: 'center' }));
    await frames(page);
  };

  test('zooming moves the points apart, keeps markers and text, and 0 brings the drawing back', async () => {
    await on('h200.html', {}, async page => {
      await chart_in_sight(page);
      const before = await shape(page);
      const original = await page.locator('.roofline-chart').innerHTML();
      const target = before.points.find(p => p.index === '16');
      await page.mouse.move(target.x, target.y);
      await page.keyboard.down('Control');
      await page.mouse.wheel(0, -700);
      await page.keyboard.up('Control');
      await frames(page);
      const after = await shape(page);
      assert.ok(after.points.length > 0 && after.points.length < before.points.length);
      const same = after.points.find(p => p.index === '16');
      assert.ok(Math.hypot(same.x - target.x, same.y - target.y) < 4, 'the point under the pointer stays there');
      assert.ok(Math.abs(same.width - target.width) < 0.6, 'markers keep their size');
      for (const p of after.points) {
        assert.ok(p.x >= after.plot[0] - 1 && p.x <= after.plot[2] + 1 && p.y >= after.plot[1] - 1 && p.y <= after.plot[3] + 1);
      }
      assert.ok(after.ticks.length >= 4, after.ticks.join());
      await page.keyboard.press('0');
      await frames(page);
      await page.mouse.move(2, 2);
      await frames(page);
      assert.deepEqual((await shape(page)).points, before.points);
      assert.equal(await page.locator('.made').count(), 0);
      assert.ok(original.length > 0);
    });
  });

  test('the wheel scrolls the page until the chart is clicked', async () => {
    await on('h200.html', {}, async page => {
      await chart_in_sight(page);
      const from = await page.evaluate(() => scrollY);
      let box = await page.locator('.roofline-chart').boundingBox();
      await page.mouse.move(box.x + 300, box.y + 300);
      await page.mouse.wheel(0, 120);
      await page.waitForFunction(y => scrollY > y, from);
      await frames(page);
      box = await page.locator('.roofline-chart').boundingBox();
      assert.equal(await page.locator('.zoomed').count(), 0);
      await page.mouse.click(box.x + 300, box.y + 100);
      await page.mouse.wheel(0, -300);
      await frames(page);
      assert.equal(await page.locator('.zoomed').count(), 1);
    });
  });

  test('buttons and keys zoom, dragging moves, a double click zooms', async () => {
    await on('h200.html', {}, async page => {
      await chart_in_sight(page);
      const box = await page.locator('.roofline-chart').boundingBox();
      await page.locator('#zoom-in').click();
      await page.keyboard.press('+');
      await frames(page);
      const before = await shape(page);
      const [x, y] = [box.x + 500, box.y + 400];
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(x - 40, y + 25, { steps: 4 });
      await page.mouse.up();
      await frames(page);
      const after = await shape(page);
      const common = after.points.filter(p => before.points.some(b => b.index === p.index));
      assert.ok(common.length > 0);
      for (const p of common) {
        const b = before.points.find(q => q.index === p.index);
        assert.ok(Math.abs(p.x - b.x + 40) < 1.5 && Math.abs(p.y - b.y - 25) < 1.5, `${p.x - b.x}, ${p.y - b.y}`);
      }
      await page.locator('#zoom-reset').click();
      await frames(page);
      assert.equal(await page.locator('.zoomed').count(), 0);
      await page.mouse.dblclick(x, y);
      await frames(page);
      assert.equal(await page.locator('.zoomed').count(), 1);
      await page.keyboard.press('-');
      await page.keyboard.press('-');
      await frames(page);
      assert.equal(await page.locator('.zoomed').count(), 0);
    });
  });

  test('names in a zoomed view overlap nothing and stay in the plot', async () => {
    for (const name of ['h200', 'stress', 'many']) {
      await on(`${name}.html`, {}, async page => {
        for (let i = 0; i < 3; ++i) {
          await page.keyboard.press('+');
          await frames(page);
          const { names, plot } = await shape(page);
          assert.ok(names.length > 0);
          const level = names.filter(b => b[3] - b[1] < 20);  // slopes' names are turned: their boxes are wider than they
          for (const [k, a] of level.entries()) {
            assert.ok(a[0] >= plot[0] - 3 && a[2] <= plot[2] + 3, `${name}: ${a}`);
            for (const b of level.slice(k + 1)) {
              const across = Math.min(a[2], b[2]) - Math.max(a[0], b[0]);
              const down = Math.min(a[3], b[3]) - Math.max(a[1], b[1]);
              assert.ok(across < 3 || down < 4, `${name}: ${a} and ${b}`);
            }
          }
        }
      });
    }
  });

  test('two fingers zoom', async () => {
    await on('h200.html', { hasTouch: true }, async page => {
      await chart_in_sight(page);
      const box = await page.locator('.roofline-chart').boundingBox();
      const client = await page.context().newCDPSession(page);
      const touch = (type, ...at) => client.send('Input.dispatchTouchEvent',
        { type, touchPoints: at.map(([x, y], id) => ({ x: box.x + x, y: box.y + y, id })) });
      await touch('touchStart', [500, 300]);
      await touch('touchStart', [500, 300], [560, 300]);
      for (let i = 1; i <= 6; ++i) await touch('touchMove', [500 - 12 * i, 300], [560 + 12 * i, 300]);
      await touch('touchEnd');
      await frames(page);
      assert.equal(await page.locator('.zoomed').count(), 1);
    });
  });

  test('chips choose families, types and bounds, in chart and table alike', async () => {
    await on('h200.html', {}, async page => {
      const shown = async () => [await page.locator('#results tbody tr:visible').count(), await page.locator('.point:visible').count()];
      const chip = name => page.locator('#chips').getByRole('button', { name, exact: true });
      const all = await shown();
      assert.deepEqual(all, [24, 22]);
      await chip('fp16').click();
      const rows = await page.$$eval('#results tbody tr:not([hidden])', list => list.map(r => r.dataset.dtype));
      assert.deepEqual(new Set(rows), new Set(['fp16']));
      await chip('memory').click();
      for (const [r, p] of [await shown()]) assert.equal(r, p);
      await chip('elementwise').click();
      assert.deepEqual(await shown(), [1, 1]);
      assert.equal(await page.locator('.point-label:visible').count(), 1);
      for (const name of ['fp16', 'memory', 'elementwise']) await chip(name).click();
      assert.deepEqual(await shown(), all);
    });
  });

  test('ceilings hide, and the roofs that no kernel uses come forward', async () => {
    await on('h200.html', {}, async page => {
      const ceiling = page.locator('.ceiling').first();
      await ceiling.focus();
      await page.keyboard.press('Enter');
      assert.equal(await ceiling.getAttribute('aria-pressed'), 'false');
      await page.keyboard.press(' ');
      assert.equal(await ceiling.getAttribute('aria-pressed'), 'true');
      const opacity = () => page.locator('.ceiling.idle path').first().evaluate(e => Number(getComputedStyle(e).opacity));
      const faint = await opacity();
      await page.locator('#all-roofs').click();
      await frames(page);
      assert.ok(faint < await opacity());
      assert.equal(await page.locator('#all-roofs').getAttribute('aria-pressed'), 'true');
      const named = await page.locator('.made text').allTextContents();
      assert.ok(named.some(text => /FP64/.test(text)), named.join());
    });
  });

  test('a point and its row mark each other; a link opens on it; Escape lets go', async () => {
    await on('h200.html', {}, async page => {
      await page.locator('#row-19').scrollIntoViewIfNeeded();
      await frames(page);
      await page.locator('#row-19').hover();
      assert.ok(await page.locator('.overlay [data-of="19"]').isVisible());
      await page.locator('#row-19 .name a').click();
      assert.equal(await page.evaluate(() => location.hash), '#point-19');
      assert.equal(await page.evaluate(() => document.activeElement.id), 'point-19');
      const link = page.url();
      await page.keyboard.press('Escape');
      assert.equal(await page.evaluate(() => location.hash), '');
      assert.equal(await page.locator('.sel, .overlay [data-of]').count(), 0);
      await page.goto('about:blank');
      await page.goto(link);
      await page.waitForSelector('.card:visible');
      assert.match(await page.locator('.card:visible').innerText(), /gemm tf32/);
      await frames(page);
      assert.ok(await page.locator('#row-19.sel').count() === 1);
      const chart = await page.locator('#point-19').boundingBox();
      assert.ok(chart.y > 100 && chart.y < 800, `the point is at ${chart.y} px`);
    });
  });

  test('a hovered point shows its head-room', async () => {
    await on('h200.html', {}, async page => {
      await page.locator('#point-13').hover({ force: true });
      // Both at once: what is drawn over the chart is drawn anew whenever the pointer moves.
      const boxes = await page.waitForFunction(() => {
        const [line, point] = ['.overlay .head-room', '#point-13'].map(what => document.querySelector(what)?.getBoundingClientRect());
        return line && {line: line.top, height: line.height, point: point.top};
      });
      const {line, height, point} = await boxes.jsonValue();
      assert.ok(line < point - 10 && height > 15, `from ${line}, ${height} high, to a point at ${point}`);
      assert.ok((await page.locator('.overlay text').allTextContents()).includes('2.3×'));
      await page.mouse.move(3, 3);
      assert.equal(await page.locator('.overlay .head-room').count(), 0);
    });
  });

  test('a hovered point shows the roof that it is held against: its pattern, its pipe', async () => {
    await on('h200.html', {}, async page => {
      const at = async (index, name) => {
        await page.locator(`#point-${index}`).hover({ force: true });
        await page.waitForFunction(words => [...document.querySelectorAll('.overlay text')]
          .some(t => t.textContent === words), name);
        return page.evaluate(i => {
          const svg = document.querySelector('.roofline-chart');
          const point = document.querySelector(`#point-${i}`).dataset;
          const line = document.querySelector('.overlay .held-roof');
          const numbers = line.getAttribute('d').match(/-?[\d.]+/g).map(Number);
          const { plotY, plotHeight, yLow, yHigh, plotX, plotWidth, xLow, xHigh } = svg.dataset;
          const share = (v, low, high) => Math.log10(v / low) / Math.log10(high / low);
          return {
            line: numbers,
            sloped: line.getAttribute('d').includes('L'),
            x: Number(plotX) + Number(plotWidth) * share(point.intensity, xLow, xHigh),
            y: Number(plotY) + Number(plotHeight) * (1 - share(point.roof, yLow, yHigh)),
          };
        }, index);
      };
      const flat = await at(13, 'FP16 tensor: 786 TFLOP/s');
      assert.ok(!flat.sloped && Math.abs(flat.line[1] - flat.y) < 0.5, JSON.stringify(flat));
      // ReLU reads and writes: it is held against copying, whatever is faster.
      const slope = await at(0, 'HBM copy: 4.26 TB/s');
      const [x1, y1, x2, y2] = slope.line;
      const there = y1 + (y2 - y1) * (slope.x - x1) / (x2 - x1);
      assert.ok(slope.sloped && Math.abs(there - slope.y) < 0.5, JSON.stringify({ ...slope, there }));
      await page.keyboard.press('Escape');
      assert.equal(await page.locator('.overlay .held-roof').count(), 0);
    });
  });

  test('the downloads are the drawing, the rows and the report', async () => {
    await on('h200.html', {}, async page => {
      assert.deepEqual(JSON.parse(await downloaded(page, '#save-json')), JSON.parse(session.text('h200.json')));
      const svg = String(await downloaded(page, '#save-svg'));
      assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
      assert.doesNotMatch(svg, /tabindex|class="[^"]*\bon\b/);
      const png = await downloaded(page, '#save-png');
      assert.equal(png.subarray(1, 4).toString(), 'PNG');
      assert.equal(String(await downloaded(page, '#save-csv')), session.text('h200.csv'));
    });
  });

  test('the audit lists its figures when asked', async () => {
    await on('h200.html', {}, async page => {
      await page.locator('#device > summary').click();
      const audit = page.locator('.ceilings tbody tr').first().locator('details');
      await audit.locator('summary').click();
      await audit.locator('li').first().waitFor();
      assert.match(await audit.innerText(), /doubling the work doubles the time[\s\S]*within 2 %/);
    });
  });

  test('the sweep is drawn, with its plateaus and boundaries', async () => {
    await on('h200.html', { javaScriptEnabled: false }, async page => {
      const text = await page.locator('#sweeps svg').textContent();
      for (const figure of ['33 TB/s', '9.7 TB/s', '4.67 TB/s', '231 KiB', '44.5 MiB']) assert.ok(text.includes(figure), figure);
    });
  });

  test('two runs: what changed, by how much, and both in the data', async () => {
    await on('two.html', {}, async page => {
      assert.match(await page.title(), /NVIDIA H200: 2 runs/);
      const row = async name => (await page.locator('#changes tr', { hasText: name }).first().textContent()).replace(/\s+/g, ' ');
      assert.match(await row('reduction fp32'), /1\.050.*slower > 3 %/);
      assert.match(await page.locator('#answer-h').innerText(), /^2 of 20 slower/);
      const order = () => page.$$eval('#changes table.sortable:not(details *) tbody th', list => list.map(th => th.textContent));
      assert.match((await order())[0], /gemm tf32/, 'the worst first');
      await page.locator('#changes').getByRole('button', { name: 'Now / before' }).first().click();
      assert.match((await order())[0], /attention fp16/);
      assert.match(await row('attention fp16'), /0\.500.*faster/);
      assert.match(await row('relu fp32'), /1\.000.*no difference/);
      assert.match(await row('layernorm bf16'), /only before/);
      assert.match(await row('l2.read'), /1\.100.*faster/);
      const both = await embedded(page);
      assert.deepEqual(both, [JSON.parse(session.text('two.before.json')), JSON.parse(session.text('two.json'))]);
      await page.locator('.legend-family[data-family="attention"]').click();
      assert.equal(await page.locator('.point[data-family="attention"]:visible').count(), 0);
      assert.ok(await page.locator('.point[data-run="0"]:visible').count() > 0);
    });
  });

  test('ten thousand points: the pointer finds its point without walking all', async () => {
    await on('huge.html', {}, async page => {
      const hover = await page.evaluate(() => {
        const svg = document.querySelector('.roofline-chart');
        const box = svg.getBoundingClientRect();
        let looked = 0;
        const original = Element.prototype.getBoundingClientRect;
        Element.prototype.getBoundingClientRect = function () { ++looked; return original.call(this); };
        for (let i = 0; i < 50; ++i) {
          svg.dispatchEvent(new PointerEvent('pointermove',
            { clientX: box.left + 200 + 10 * i, clientY: box.top + 420 - 4 * i, bubbles: true, pointerType: 'mouse' }));
        }
        Element.prototype.getBoundingClientRect = original;
        return { looked, card: !document.querySelector('#card').hidden };
      });
      assert.ok(hover.looked < 500, `${hover.looked} boxes for 50 moves`);

      // Only the first rows are elements until more are wanted; none is lost to filters, links or sorting.
      const elements = () => page.locator('#results tbody tr').count();
      const first = await elements();
      assert.ok(first < 200, `${first} rows`);
      const layouts = async act => {
        const client = await page.context().newCDPSession(page);
        await client.send('Performance.enable');
        const count = async () => (await client.send('Performance.getMetrics')).metrics.find(m => m.name === 'LayoutCount').value;
        const before = await count();
        await act();
        await frames(page);
        return await count() - before;
      };
      const type = text => page.evaluate(value => {
        const input = document.querySelector('#filter');
        input.value = value;
        input.dispatchEvent(new Event('input'));
      }, text);
      assert.ok(await layouts(() => type('kernel_99')) <= 3, 'one layout for a filter, not one a row');
      assert.ok(await elements() <= first);
      assert.equal(await page.locator('#live').textContent(), '111 of 10000 kernels shown');
      await type('');
      assert.ok(await layouts(() => page.evaluate(() => document.querySelectorAll('#results thead th button')[2].click())) <= 3);
      const times = await page.$$eval('#results tbody tr', list => list.map(row => Number(row.dataset.v.split(' ')[2])));
      assert.deepEqual(times, [...times].sort((a, b) => a - b));
      await page.evaluate(() => { location.hash = '#row-9000'; });
      await page.locator('#row-9000').waitFor({ state: 'visible' });
      assert.ok(await elements() <= 2 * first + 1);
      await page.locator('#more-rows').scrollIntoViewIfNeeded();
      await page.waitForFunction(n => document.querySelectorAll('#results tbody tr').length > n, first + 1);
    });
  });

  test('ten thousand rows are all there without a script, and on paper', async () => {
    const html = session.text('huge.html');
    assert.equal(html.match(/<tr id="row-/g).length, 10000);
    assert.equal(new Set(html.match(/<tr id="row-\d+/g)).size, 10000);
    await on('many.html', { javaScriptEnabled: false }, async page => {
      assert.equal(await page.locator('.results tbody tr:visible').count(), 500);
    });
    await on('many.html', {}, async page => {
      await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
      assert.equal(await page.locator('#results tbody tr').count(), 500);
      await page.evaluate(() => dispatchEvent(new Event('afterprint')));
      assert.ok(await page.locator('#results tbody tr').count() < 200);
    });
  });

  test('the ranking is in the first screen, the rest in the order in which it is read', async () => {
    for (const name of ['counted', 'cpu', 'profile']) {
      await on(`${name}.html`, { viewport: { width: 1440, height: 900 } }, async page => {
        const top = selector => page.locator(selector).evaluate(e => e.getBoundingClientRect().top);
        const ranking = await page.locator('.spend li').first().boundingBox();
        assert.ok(ranking.y + ranking.height < 900, `${name}: ${ranking.y}`);
        const tops = [];
        for (const part of ['#spend', '#chart', '#kernels', '#verdicts', '#evidence', '#device', '#about']) {
          if (await page.locator(part).count()) tops.push(await top(part));
        }
        assert.deepEqual(tops, [...tops].sort((a, b) => a - b));
        for (const folded of ['#machine', '#method', '#terms']) assert.equal(await page.locator(folded).isVisible(), false, folded);
      });
    }
  });

  test('contents and heads of tables stay in sight', async () => {
    await on('h200.html', { viewport: { width: 1440, height: 700 } }, async page => {
      await page.locator('#results tbody tr').nth(20).scrollIntoViewIfNeeded();
      await page.mouse.wheel(0, 200);
      await frames(page);
      const box = async selector => page.locator(selector).first().boundingBox();
      const contents = await box('.toc');
      const head = await box('#results thead th');
      assert.equal(Math.round(contents.y), 0);
      assert.ok(head.y >= contents.height - 3 && head.y < contents.height + 3, `${head.y}, ${contents.height}`);
    });
  });

  test('a phone sees the whole plot, and does not scroll for ever', async () => {
    await on('counted.html', { viewport: { width: 390, height: 844 } }, async page => {
      const { box, view, data, height } = await page.evaluate(() => {
        const svg = document.querySelector('.roofline-chart');
        const { x, width } = svg.viewBox.baseVal;
        return { box: svg.getBoundingClientRect(), view: { x, width }, data: { ...svg.dataset }, height: document.documentElement.scrollHeight };
      });
      assert.ok(box.left >= 0 && box.right <= 390);
      assert.ok(view.x <= Number(data.plotX) && view.x + view.width >= Number(data.plotX) + Number(data.plotWidth));
      assert.ok(height < 16_000, `${height} px`);
      await chart_in_sight(page);
      const point = await page.locator('#point-13').boundingBox();
      await page.mouse.move(point.x + point.width / 2, point.y + point.height / 2);
      assert.match(await page.locator('.card:visible').innerText(), /attention fp16|wgmma|gemm/);
    });
  });

  test('the address keeps the view: it opens there, and back returns to it', async () => {
    await on('h200.html', {}, async page => {
      const seen = async () => [await page.locator('#results tbody tr').count(),
        await page.locator('#results tbody tr').first().getAttribute('id'), await page.locator('#filter').inputValue()];
      const whole = await seen();
      await page.locator('#chips').getByRole('button', { name: 'fp16', exact: true }).click();
      await page.locator('#results thead').getByRole('button', { name: 'Time' }).click();
      const narrowed = await seen();
      assert.notDeepEqual(narrowed, whole);
      await page.locator('#verdicts a').first().click();
      assert.match(page.url(), /#row-\d+\?sort=2&dtype=fp16$/);
      const link = page.url();
      await page.goBack();
      assert.match(page.url(), /#\?sort=2&dtype=fp16$/);
      await page.goBack();
      await page.goBack();
      assert.deepEqual(await seen(), whole);
      await page.goForward();
      assert.equal(await page.locator('#chips [aria-pressed=true]').textContent(), 'fp16');
      await page.goto('about:blank');
      await page.goto(link);
      await page.locator('#results tr.sel').waitFor();
      assert.equal(await page.locator('#results th[aria-sort=ascending]').textContent(), 'Time');
      assert.deepEqual((await seen()).slice(1), narrowed.slice(1));
      await page.locator('#filter').fill('gemm');
      await page.locator('#zoom-in').click();
      await page.waitForFunction(() => /q=gemm.*zoom=/.test(location.hash));
      await page.reload();
      await page.locator('.zoomed').waitFor({ state: 'attached' });
      assert.equal(await page.locator('#filter').inputValue(), 'gemm');
    });
  });

  test('what is seen is copied as Markdown, and so is the link to it', async () => {
    await on('h200.html', { permissions: ['clipboard-read', 'clipboard-write'] }, async page => {
      await page.locator('#filter').fill('gemm');
      await page.locator('#copy-md').click();
      const copied = () => page.evaluate(() => navigator.clipboard.readText());
      const text = await copied();
      assert.match(text, /^### NVIDIA H200/);
      assert.match(text, /\*\*The 22 kernels take/);
      assert.match(text, /Where to spend time:\n\n1\. \*\*/);
      const lines = text.split('\n').filter(line => line.startsWith('| '));
      assert.ok(lines.length > 3 && lines.slice(2).every(line => line.startsWith('| gemm')), lines.join('\n'));
      assert.equal(new Set(lines.map(line => line.split(/(?<!\\)\|/).length)).size, 1);
      await page.locator('#copy-link').click();
      assert.equal(await copied(), page.url());
      assert.match(page.url(), /q=gemm/);
    });
    await on('two.html', { permissions: ['clipboard-read', 'clipboard-write'] }, async page => {
      await page.locator('#copy-md').click();
      assert.match(await page.evaluate(() => navigator.clipboard.readText()), /2 of 20 slower[\s\S]*\| gemm tf32.*slower/);
    });
  });

  test('in landscape the first page has the ranking, and the chart fits a page', async () => {
    await on('h200.html', {}, async page => {
      await page.emulateMedia({ media: 'print' });
      await page.setViewportSize({ width: 1031, height: 703 });  // A4 within its margins
      const height = await page.locator('.roofline-chart').evaluate(e => e.getBoundingClientRect().height);
      assert.ok(height > 300 && height <= 703, `${height} px`);
      const ranking = await page.locator('#spend').evaluate(e => e.getBoundingClientRect().top + scrollY);
      assert.ok(ranking < 400, `${ranking} px`);
    });
  });

  test('a chart begins a printed page after a ranking, but not after the answer alone', async () => {
    for (const [name, wanted] of [['h200.html', 'page'], ['two.html', 'auto']]) {
      await on(name, {}, async page => {
        await page.emulateMedia({ media: 'print' });
        assert.equal(await page.locator('#chart').evaluate(chart => getComputedStyle(chart).breakBefore), wanted, name);
      });
    }
  });

  test('chart and table of the suite print on one page', async () => {
    await on('h200.html', {}, async page => {
      await page.emulateMedia({ media: 'print' });
      await page.setViewportSize({ width: 703, height: 1031 });  // A4 within its margins
      const length = await page.evaluate(() => document.querySelector('#kernels').getBoundingClientRect().bottom
        - document.querySelector('#chart').getBoundingClientRect().top);
      assert.ok(length <= 1031, `${length} px`);
    });
  });
});
