// The documentation's site in Chromium: light, dark, on a phone and on paper. scripts/site builds it (the test doc_site);
// skipped, with a message, where it is not built or the packages of tests/browser are missing.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const require = createRequire(new URL('../browser/', import.meta.url));
const site = fileURLToPath(new URL('../../build/site/', import.meta.url));
const chromium_path = [process.env.ROOFLINE_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
  .find(path => path && existsSync(path));
const kinds = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.svg': 'image/svg+xml' };
const pages = ['', 'docs/profile/', 'docs/tutorials/slow-training/', 'docs/report-schema/', 'docs/evidence/peers-h200/', 'CONTRIBUTING/'];
const desktop = { width: 1280, height: 900 }, phone = { width: 390, height: 844 }, paper = { width: 794, height: 1123 };

function missing() {
  if (!existsSync(join(site, 'index.html'))) return 'build/site is not built (scripts/site)';
  if (!chromium_path) return 'no Chromium (apt-get install chromium, or set ROOFLINE_CHROMIUM)';
  try {
    require('playwright-core');
    require('axe-core');
  } catch {
    return 'playwright-core or axe-core is not installed (npm ci in tests/browser)';
  }
  return null;
}

const reason = missing();
if (reason) console.log(`site tests skipped: ${reason}`);

/** The site as any web server serves it. */
function serve() {
  const server = createServer((request, response) => {
    let path = join(site, decodeURIComponent(new URL(request.url, 'http://x').pathname));
    if (existsSync(path) && statSync(path).isDirectory()) path = join(path, 'index.html');
    if (!existsSync(path)) return response.writeHead(404).end();
    response.writeHead(200, { 'content-type': kinds[extname(path)] ?? 'application/octet-stream' }).end(readFileSync(path));
  });
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(server)));
}

describe('site', { skip: reason ?? false }, () => {
  let server, browser, base;
  before(async () => {
    server = await serve();
    base = `http://127.0.0.1:${server.address().port}/`;
    browser = await require('playwright-core').chromium.launch({
      executablePath: chromium_path, args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    });
  });
  after(async () => {
    await browser?.close();
    server?.close();
  });

  /** Runs `check(page, name)` on each page, which must load without errors and ask no other server. */
  async function on(names, { viewport, colorScheme = 'light', media = null }, check) {
    const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    const problems = [];
    page.on('console', message => ['error', 'warning'].includes(message.type()) && problems.push(message.text()));
    page.on('pageerror', error => problems.push(error.message));
    page.on('response', response => response.status() >= 400 && problems.push(`${response.status()} ${response.url()}`));
    page.on('request', request => {
      if (!request.url().startsWith(base) && !/^(data|blob):/.test(request.url())) problems.push(`request: ${request.url()}`);
    });
    await page.emulateMedia({ media });
    for (const name of names) {
      await page.goto(base + name);
      await check(page, name || 'home');
    }
    await context.close();
    assert.deepEqual(problems, []);
  }

  const excess = page => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  const background = page => page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));

  /** Scrollable code and tables are reached by the keyboard in Chromium 130 and later, whatever axe says. */
  async function violations(page) {
    await page.evaluate(require('axe-core').source);
    const found = await page.evaluate(() => globalThis.axe.run(document, {
      resultTypes: ['violations'], rules: { 'scrollable-region-focusable': { enabled: false } },
    }));
    return found.violations.map(v => `${v.id}: ${v.nodes.slice(0, 3).map(n => `${n.html.slice(0, 120)} ${n.failureSummary}`).join(' | ')}`);
  }

  for (const [name, look] of [['light', { viewport: desktop }], ['dark', { viewport: desktop, colorScheme: 'dark' }],
    ['phone', { viewport: phone }], ['dark phone', { viewport: phone, colorScheme: 'dark' }]]) {
    test(`${name}: no error, nothing too wide, no finding of axe`, async () => {
      await on(pages, look, async (page, place) => {
        assert.equal(await excess(page), 0, place);
        const dark = (await background(page))[0] < 128;
        assert.equal(dark, look.colorScheme === 'dark', place);
        assert.deepEqual(await violations(page), [], place);
      });
    });
  }

  test('print: white, without navigation, and nothing is cut', async () => {
    for (const colorScheme of ['light', 'dark']) {
      await on(pages, { viewport: paper, colorScheme, media: 'print' }, async (page, place) => {
        assert.equal(await excess(page), 0, place);
        assert.deepEqual((await background(page)).slice(0, 3), [255, 255, 255], `${place}, ${colorScheme}`);
        for (const part of ['.md-header', '.md-tabs', '.md-sidebar', '.md-footer']) {
          assert.equal(await page.locator(`${part}:visible`).count(), 0, `${place} ${part}`);
        }
        const cut = await page.evaluate(() => [...document.querySelectorAll('article pre > code, article .md-typeset__scrollwrap')]
          .filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.textContent.trim().slice(0, 60)));
        assert.deepEqual(cut, [], `${place}, ${colorScheme}`);
      });
    }
  });

  test('the search finds a page, and the button changes the colours', async () => {
    await on([''], { viewport: desktop }, async page => {
      await page.locator('.md-search__input').click();
      await page.keyboard.type('effective samples', { delay: 20 });
      await page.locator('.md-search-result__link').first().waitFor();
      assert.match(await page.locator('.md-search-result__link').first().getAttribute('href'), /^http:\/\/127/);
      await page.keyboard.press('Escape');
      await page.locator('label[title="Dark"]').click();
      assert.ok((await background(page))[0] < 128);
    });
  });

  test('on a phone the menu opens the pages, and what is touched is large enough', async () => {
    await on([''], { viewport: phone }, async page => {
      await page.locator('label.md-header__button[for="__drawer"]').click();
      await page.locator('.md-nav--primary .md-nav__title').first().waitFor();
      const small = await page.evaluate(() => [...document.querySelectorAll('.md-header label, .md-header a, .md-nav--primary > .md-nav__list > li > label')]
        .map(e => [e.textContent.trim(), e.getBoundingClientRect()]).filter(([, box]) => box.width > 0 && box.height < 24)
        .map(([text, box]) => `${text}: ${box.height}`));
      assert.deepEqual(small, []);
    });
  });
});
