// The charts of the pages: where marks are, what is named, what a phone sees, colours and contrast; two machines on one
// chart, and the pages of projections and bounds.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { missing, share_session, violations } from './pages.js';

const reason = missing();

describe('charts', { skip: reason ?? false }, () => {
  const shared = share_session();
  let session;
  before(async () => { session = await shared.open(); });
  after(() => shared.close());
  const on = (name, options, check) => session.on(name, options, check);

  const suites = ['h200', 'counted', 'cpu', 'stress', 'many', 'two', 'machines', 'profile', 'profile-steps'];
  const phone = { viewport: { width: 390, height: 844 } };

  test('each mark has a dot in its centre, is small, and no centre is above its roof unless it says so', async () => {
    for (const name of suites) {
      await on(`${name}.html`, {}, async page => {
        const marks = await page.evaluate(() => {
          const { plotY, plotHeight, yLow, yHigh } = document.querySelector('.roofline-chart').dataset;
          const y_of = value => Number(plotY) + Number(plotHeight)
            * (1 - Math.log10(value / yLow) / Math.log10(yHigh / yLow));
          return [...document.querySelectorAll('.layer-points .point')].map(g => {
            const dot = g.lastElementChild;
            const box = dot.previousElementSibling.getBBox();
            return {
              tag: dot.tagName, r: Number(dot.getAttribute('r')), y: Number(dot.getAttribute('cy')),
              x: Number(dot.getAttribute('cx')), box: [box.x, box.y, box.x + box.width, box.y + box.height],
              roof: g.dataset.roof ? y_of(Number(g.dataset.roof)) : -Infinity, above: g.classList.contains('above-roof'),
            };
          });
        });
        assert.ok(marks.length > 0, name);
        for (const mark of marks) {
          assert.ok(mark.tag === 'circle' && mark.r < 2, `${name}: ${JSON.stringify(mark)}`);
          assert.ok(mark.x > mark.box[0] && mark.x < mark.box[2] && mark.y > mark.box[1] && mark.y < mark.box[3]);
          assert.ok(mark.box[3] - mark.box[1] <= 30, `${name}: ${mark.box}`);
          // Screens grow downwards. A point may exceed its roof by what does not count as above.
          if (!mark.above) assert.ok(mark.y > mark.roof - 4, `${name}: ${JSON.stringify(mark)}`);
        }
      });
    }
  });

  test('a cluster of marks has one label', async () => {
    for (const name of ['stress', 'many', 'h200', 'profile']) {
      await on(`${name}.html`, {}, async page => {
        const at = await page.evaluate(() => [...document.querySelectorAll('.point-label')].map(label => {
          const dot = document.querySelector(`#point-${label.dataset.labelOf}`).lastElementChild;
          return [Number(dot.getAttribute('cx')), Number(dot.getAttribute('cy'))];
        }));
        assert.ok(at.length > 2, name);
        for (const [i, a] of at.entries()) {
          for (const b of at.slice(i + 1)) assert.ok(Math.hypot(a[0] - b[0], a[1] - b[1]) >= 9 - 0.02, `${name}: ${a}, ${b}`);
        }
      });
    }
  });

  /** The visible texts of the chart on the screen, each as circles along it: texts may be turned. */
  const texts_of = page => page.evaluate(() => [...document.querySelectorAll('.roofline-chart text')]
    .filter(text => text.checkVisibility() && text.textContent.trim() !== '').map(text => {
      const matrix = text.getScreenCTM();
      const scale = Math.hypot(matrix.a, matrix.b);
      const size = parseFloat(getComputedStyle(text).fontSize);
      const box = text.getBBox();
      const circles = [];
      const radius = 0.3 * size;  // half as high as small letters, and a little more
      const steps = Math.max(1, Math.round((box.width - 2 * radius) / radius));
      for (let i = 0; i <= steps; ++i) {
        const x = box.x + radius + (box.width - 2 * radius) * i / steps;
        const { x: left, y: top } = new DOMPoint(x, box.y + box.height / 2).matrixTransform(matrix);
        circles.push([left, top, radius * scale]);
      }
      return { text: text.textContent, size: size * scale, circles };
    }));
  const collide = (a, b) => a.circles.some(p => b.circles.some(q => Math.hypot(p[0] - q[0], p[1] - q[1]) < p[2] + q[2]));

  for (const [window, viewport] of [['a phone', phone.viewport], ['800x500', { width: 800, height: 500 }]]) {
    test(`${window}: names are legible and do not collide, and the plot fits`, async () => {
      for (const name of suites) {
        await on(`${name}.html`, { viewport }, async page => {
          const texts = await texts_of(page);
          assert.ok(texts.length > 8, name);
          for (const [i, a] of texts.entries()) {
            assert.ok(a.size >= 9, `${name}: '${a.text}' is ${a.size} px high`);
            for (const b of texts.slice(i + 1)) assert.ok(!collide(a, b), `${name}: '${a.text}' and '${b.text}'`);
          }
          const box = await page.locator('.roofline-chart').boundingBox();
          assert.ok(box.x >= 0 && box.x + box.width <= viewport.width && box.height <= viewport.height, JSON.stringify(box));
          assert.equal(await page.locator('.roofline-chart').count(), 1);
        });
      }
    });
  }

  // Charts of pages without a script are pictures, one for each range of widths.
  test('bounds and projections have letters of 11 px at every width', async () => {
    for (const name of ['projection', 'bound']) {
      for (const width of [360, 390, 500, 559, 560, 640, 760, 761, 799, 800, 900, 1000, 1247, 1248, 1400]) {
        await on(`${name}.html`, { viewport: { width, height: 900 } }, async page => {
          const least = await page.evaluate(async () => {
            const smallest = (svg, width) => {
              const scale = width / svg.viewBox.baseVal.width;
              const sizes = [...svg.querySelectorAll('text')].map(text => Number(text.getAttribute('font-size')
                ?? parseFloat(getComputedStyle(text).fontSize)));
              return Math.min(...sizes) * scale;
            };
            const drawing = document.querySelector('.roofline-chart');
            if (drawing.checkVisibility()) {
              const shown = [...drawing.querySelectorAll('text')].filter(text => text.checkVisibility());
              const scale = drawing.getBoundingClientRect().width / drawing.viewBox.baseVal.width;
              return Math.min(...shown.map(text => parseFloat(getComputedStyle(text).fontSize) * scale));
            }
            const image = document.querySelector('.narrow-chart img');
            await image.decode();
            const source = atob(image.currentSrc.split(',')[1]);
            return smallest(new DOMParser().parseFromString(source, 'image/svg+xml').documentElement,
              image.getBoundingClientRect().width);
          });
          assert.ok(least >= 11, `${name} at ${width} px: ${least}`);
          assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width, `${name} at ${width} px`);
        });
      }
    }
  });

  test('two runs on a phone: a key of the marks, and each figure of a change in sight', async () => {
    for (const [name, lines] of [['machines', 2], ['two', 0]]) {
      await on(`${name}.html`, phone, async page => {
        const key = page.locator('.runs-key');
        assert.ok(await key.isVisible(), name);
        assert.equal(await key.locator('li').count(), 2);
        assert.equal(await key.locator('path').count(), lines, name);
        const fills = await key.locator('circle').evaluateAll(all => all.map(e => getComputedStyle(e).fill));
        assert.notEqual(fills[0], fills[1]);
        const cells = await page.locator('#changes .compared').first().locator('tbody tr').first().locator('td').evaluateAll(
          all => all.map(e => [getComputedStyle(e, ':before').content, e.getBoundingClientRect().right]));
        assert.ok(cells.length >= 4, name);
        assert.ok(cells.every(([title, right]) => title.length > 3 && right <= 390), JSON.stringify(cells));
      });
      await on(`${name}.html`, {}, async page => assert.equal(await page.locator('.runs-key').isVisible(), false));
    }
  });

  test('no name is struck through by one of the two main roofs', async () => {
    for (const name of suites) {
      for (const viewport of [{ width: 800, height: 500 }, { width: 1280, height: 900 }]) {
        await on(`${name}.html`, { viewport }, async page => {
          const texts = await texts_of(page);
          const struck = await page.evaluate(texts => {
            const lines = [...document.querySelectorAll('.roofline-chart .ceiling.main path')].filter(e => e.checkVisibility());
            const labels = new Set([...document.querySelectorAll('.point-label text')].map(e => e.textContent));
            return texts.filter(text => labels.has(text.text)).filter(text => lines.some(line => {
              const matrix = line.getScreenCTM().inverse();
              return text.circles.some(([x, y]) => line.isPointInStroke(new DOMPoint(x, y).matrixTransform(matrix)));
            })).map(text => text.text);
          }, texts);
          assert.deepEqual(struck, [], name);
        });
      }
    }
  });

  test('a phone has the chart within the first 1,000 px', async () => {
    for (const name of ['h200', 'counted', 'cpu', 'stress', 'many', 'machines']) {
      await on(`${name}.html`, phone, async page => {
        const bottom = await page.locator('.roofline-chart').evaluate(e => e.getBoundingClientRect().bottom + scrollY);
        assert.ok(bottom <= 1000, `${name}: ${bottom}`);
      });
    }
    for (const name of ['profile', 'profile-steps']) {
      await on(`${name}.html`, phone, async page => {
        const top = await page.locator('.roofline-chart').evaluate(e => e.getBoundingClientRect().top + scrollY);
        assert.ok(top <= 900, `${name}: ${top}`);
      });
    }
    for (const name of ['projection', 'bound']) {
      await on(`${name}.html`, phone, async page => {
        const bottom = await page.locator('.narrow-chart img').evaluate(e => e.getBoundingClientRect().bottom + scrollY);
        assert.ok(bottom <= 1000, `${name}: ${bottom}`);
      });
    }
  });

  test('fingers find what they are meant to touch: 24 px', async () => {
    for (const name of [...suites, 'projection', 'bound']) {
      await on(`${name}.html`, phone, async page => {
        const small = await page.evaluate(() => [...document.querySelectorAll('button, summary, .toc a, input, select')]
          .filter(e => e.checkVisibility() && !(e.closest('thead')?.getBoundingClientRect().width <= 1)).map(e => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])
          .filter(([, box]) => box.height < 23.9 || box.width < 23.9).map(([html, box]) => `${html}: ${box.width}x${box.height}`));
        assert.deepEqual(small, [], name);
      });
    }
    // Marks are smaller than that, and are found 22 px around.
    await on('h200.html', { ...phone, hasTouch: true }, async page => {
      await page.locator('.roofline-chart').scrollIntoViewIfNeeded();
      const at = await page.locator('#point-0').evaluate(g => {
        const box = g.lastElementChild.getBoundingClientRect();
        return [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
      });
      await page.touchscreen.tap(at[0] - 11, at[1] + 5);
      assert.match(await page.locator('.card:visible').innerText(), /relu fp32/);
    });
  });

  test('letters have a contrast of 4.5:1, in both themes', async () => {
    for (const name of ['h200', 'odd', 'counted', 'machines', 'profile', 'projection', 'bound']) {
      for (const colorScheme of ['light', 'dark']) {
        await on(`${name}.html`, { colorScheme }, async page => {
          const faint = await page.evaluate(() => {
            const channels = text => text.match(/[\d.]+/g).slice(0, 3).map(Number);
            const luminance = rgb => rgb.map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
              .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
            const back = channels(getComputedStyle(document.body).backgroundColor);
            return [...document.querySelectorAll('.roofline-chart text')].filter(e => e.checkVisibility()).map(e => {
              let opacity = 1;
              for (let up = e; up; up = up.parentElement) opacity *= Number(getComputedStyle(up).opacity);
              const ink = channels(getComputedStyle(e).fill).map((c, i) => opacity * c + (1 - opacity) * back[i]);
              const [low, high] = [luminance(ink), luminance(back)].sort((a, b) => a - b);
              return [e.textContent, (high + 0.05) / (low + 0.05)];
            }).filter(([, contrast]) => contrast < 4.5);
          });
          assert.deepEqual(faint, [], `${name}, ${colorScheme}`);
        });
      }
    }
  });

  test('two machines: both are named, both have their roofs, and arrows lead from one to the other', async () => {
    await on('machines.html', {}, async page => {
      assert.match(await page.locator('h1').innerText(), /NVIDIA H100 80GB HBM3 → NVIDIA H200/);
      assert.match(await page.locator('#answer-h').innerText(), /^H100 → H200: \d+ of 22 faster, up to 1\.\d+×/);
      assert.doesNotMatch(await page.locator('main').innerText(), /\b(Fail|Pass):/);
      const names = await page.locator('.layer-other-roofs text').allTextContents();
      assert.ok(names.some(name => /^H100 HBM/.test(name)), names.join());
      assert.ok((await page.locator('.layer-ceilings text').allTextContents()).some(name => /^H200 HBM/.test(name)));
      const legend = (await page.locator('.layer-legend text').allTextContents()).join();
      assert.match(legend, /H100 \(2026-01-15\)[\s\S]*H200 \(2026-01-16\)/);
      assert.ok(await page.locator('.change').count() > 5);
      const color = selector => page.locator(selector).first().evaluate(e => getComputedStyle(e).stroke);
      assert.notEqual(await color('.layer-other-roofs path'), await color('.ceiling.main path.s-roof-main'));
    });
    await on('two.html', {}, async page => {
      assert.match(await page.locator('#answer-h').innerText(), /^2 of 20 slower, up to 1\.25×; 1 faster, 2\.00×/);
      assert.ok((await page.locator('.layer-other-roofs text').allTextContents()).every(name => /^before /.test(name)));
    });
  });

  test('a projection: headline, chart, ranking, times and limits, and what could not be projected', async () => {
    await on('projection.html', {}, async page => {
      assert.match(await page.locator('.answer').innerText(),
        /^On an H100 all rows together take .* \(.* to .*\) instead of .*: 1\.\d+× as long; memory-bound kernels lose most/);
      assert.ok(await page.locator('.roofline-chart').isVisible());
      assert.ok(await page.locator('.change').count() > 5);
      assert.equal(await page.locator('#machines tbody tr').count(), 2);
      assert.equal(await page.locator('#rows tbody tr').count(), 22);
      assert.match(await page.locator('#rows thead').innerText(), /Here\s+There\s+Range\s+Limited here by\s+There by/);
      assert.equal(await page.evaluate(() => window.pwned), undefined);
      assert.equal(await page.locator('img').count(), 1, 'the chart for phones, which wide windows hide');
      assert.equal(await page.locator('img').isVisible(), false);
    });
  });

  test('a bound: tokens a second, the time to the first one, and bars', async () => {
    await on('bound.html', {}, async page => {
      assert.match(await page.locator('.answer').innerText(), /^The first token after at least .*, then [\d,]+ to [\d,]+ tokens\/s\.$/);
      assert.equal(await page.locator('#prefill .bar').count(), await page.locator('#prefill tbody tr').count());
      assert.match(await page.locator('#decode').innerText(), /hbm\.read/);
      assert.ok(await page.locator('.roofline-chart').isVisible());
      assert.equal(await page.evaluate(() => window.pwned), undefined);
    });
  });

  for (const name of ['machines', 'projection', 'bound']) {
    test(`${name}: axe finds nothing, and no window is too narrow`, async () => {
      for (const [colorScheme, width] of [['light', 1280], ['dark', 1280], ['light', 380]]) {
        await on(`${name}.html`, { colorScheme, viewport: { width, height: 900 } }, async page => {
          assert.deepEqual(await violations(page), [], `${colorScheme}, ${width} px`);
          const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(excess <= 0, `${name}: ${excess} px too wide`);
        });
      }
    });
  }
});
