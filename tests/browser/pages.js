// What every test of the page needs: the sample pages, one Chromium for all, and pages that record what goes
// wrong in them. No tests here.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);

const chromium_path = [process.env.ROOFLINE_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
  .find(path => path && existsSync(path));

function package_at(name) {
  try {
    return require(name);
  } catch {
    return null;
  }
}

/** Why the tests can't run here; null when they can. */
export function missing() {
  if (!process.env.ROOFLINE_SAMPLE_PAGES) return 'ROOFLINE_SAMPLE_PAGES does not name the program roofline_sample_pages';
  if (!chromium_path) return 'no Chromium (apt-get install chromium, or set ROOFLINE_CHROMIUM)';
  for (const name of ['playwright-core', 'axe-core', 'ajv/dist/2020.js']) {
    if (!package_at(name)) return `the package ${name.split('/')[0]} is not installed (npm ci in tests/browser)`;
  }
  return null;
}

/** The sample pages in a folder of their own, and a browser to open them in. */
export async function open_session() {
  const folder = mkdtempSync(join(tmpdir(), 'roofline-pages-'));
  execFileSync(process.env.ROOFLINE_SAMPLE_PAGES, [folder], { stdio: ['ignore', 'inherit', 'inherit'] });
  const browser = await package_at('playwright-core').chromium.launch({
    executablePath: chromium_path,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  // A tab is a process of its own and costs five times what loading a file in it does: who asks for the same kind of tab
  // gets the same one, with the file loaded anew and nothing kept of the one before.
  const idle = new Map();

  async function new_tab(options) {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(120_000);  // a machine that builds at the same time is slow
    const page = await context.newPage();
    const tab = { context, page, url: '', problems: [] };
    page.on('console', message => {
      if (['error', 'warning'].includes(message.type())) tab.problems.push(`console: ${message.text()}`);
    });
    page.on('pageerror', error => tab.problems.push(`exception: ${error.message}`));
    page.on('request', request => {
      // What follows '#' is no other file; blobs are the page's own downloads.
      if (request.url().split('#')[0] !== tab.url && !/^(data|blob|about):/.test(request.url())) tab.problems.push(`request: ${request.url()}`);
    });
    return tab;
  }

  async function forget(page) {
    await page.evaluate(() => localStorage.clear());
    await page.mouse.move(0, 0);
    await page.goto('about:blank');
  }

  return {
    folder,
    text: name => readFileSync(join(folder, name), 'utf8'),
    /** Opens a page; `problems` collects console errors, exceptions and every request but the file itself. `again`: the tab
     *  is as good as new. */
    async open(name, { viewport = { width: 1280, height: 900 }, colorScheme = 'light', ...kind } = {}) {
      const key = JSON.stringify(kind);
      const tab = idle.get(key)?.pop() ?? await new_tab(kind);
      const { page, context } = tab;
      const url = pathToFileURL(join(folder, name)).href;
      Object.assign(tab, { url, problems: [] });
      await page.setViewportSize(viewport);
      await page.emulateMedia({ media: null, colorScheme, reducedMotion: 'reduce' });
      await page.goto(url);
      // The script is unpacked a moment after the page is there.
      const still = await page.locator('script').count() === 0;
      if (kind.javaScriptEnabled !== false && !still) await page.locator('html.js').waitFor({ state: 'attached' });
      return {
        page, problems: tab.problems,
        async close({ again = false } = {}) {
          if (!again || !page.url().startsWith('file:')) return context.close();
          await forget(page);
          idle.set(key, [...idle.get(key) ?? [], tab]);
        },
      };
    },
    /** Runs `check` on an opened page, which must stay free of errors and requests. */
    async on(name, options, check) {
      const { page, problems, close } = await this.open(name, options);
      let again = false;
      try {
        await check(page);
        assert.deepEqual(problems, []);
        again = true;
      } finally {
        await close({ again });
      }
    },
    async close() {
      await browser.close();
      rmSync(folder, { recursive: true });
    },
  };
}

let users = 0;
let shared = null;

/** One session for all files of a process: each asks for it as it is loaded, the first test opens it, the last closes it. */
export function share_session() {
  ++users;
  return {
    open: () => shared ??= open_session(),
    async close() {
      if (--users > 0) return;
      const session = await shared;
      shared = null;
      await session?.close();
    },
  };
}

/** The report in the page, or all runs of it, as the page itself unpacks it. */
export async function embedded(page) {
  return JSON.parse(await page.evaluate("unpack('report')"));
}

/** The file that a button saves. */
export async function downloaded(page, button) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator(button).click()]);
  return readFileSync(await download.path());
}

/** What axe finds in a page, violations and undecided contrasts, one line each. Its source runs outside the page's own policy. */
export async function violations(page) {
  await page.evaluate(package_at('axe-core').source);
  const result = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations', 'incomplete'] }));
  // Contrast has to be decided, too; but not of SVG, whose fills axe does not know, nor in narrow windows, where it can't
  // see what a table's box hides: the colours there are those of wide ones.
  const wide = page.viewportSize().width > 760;
  const undecided = result.incomplete.filter(v => wide && v.id === 'color-contrast')
    .map(v => ({ ...v, nodes: v.nodes.filter(n => !n.html.startsWith('<text')) })).filter(v => v.nodes.length > 0);
  return [...result.violations, ...undecided].map(v => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map(n => n.html.slice(0, 200)).join(' | ')}`);
}

export function validator(schema) {
  const Ajv = package_at('ajv/dist/2020.js').default;
  return new Ajv({ allErrors: true, strict: false, validateFormats: false }).compile(schema);
}
