// The page of a fleet: whole without a script, accessible, and deaf to hostile names.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { missing, share_session, validator, violations } from './pages.js';

const reason = missing();
if (reason) console.log(`browser tests skipped: ${reason}`);

describe('fleet.html', { skip: reason ?? false }, () => {
  const shared = share_session();
  let session;
  before(async () => { session = await shared.open(); });
  after(() => shared.close());

  test('names outliers by host and GPU in the table and in their distribution', async () => {
    await session.on('fleet.html', {}, async page => {
      assert.match(await page.locator('h1').innerText(), /62 machines in 3 groups, 3 outliers/);
      assert.equal(await page.locator('.outliers tbody tr').count(), 3);
      assert.match(await page.locator('.outliers').innerText(), /node7[\s\S]*power limit 400 W, others 700 W/);
      assert.match(await page.locator('#group-1').innerText(), /NVIDIA H200/);
      assert.equal(await page.locator('#group-1 .spread-chart .who', { hasText: 'node3 GPU 0' }).count(), 1);
      assert.match(await page.locator('#group-3').innerText(), /too few/);
      assert.equal(await page.locator('script, img').count(), 0);
      assert.equal(await page.evaluate(() => window.pwned), undefined);
    });
  });

  test('axe finds nothing, in both themes and on a narrow screen, which it fits', async () => {
    for (const [colorScheme, width] of [['light', 1280], ['dark', 1280], ['light', 380]]) {
      await session.on('fleet.html', { colorScheme, viewport: { width, height: 900 } }, async page => {
        assert.deepEqual(await violations(page), [], `${colorScheme}, ${width} px`);
        const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(excess <= 0, `${excess} px too wide`);
      });
    }
  });

  test('fleet.json is by its schema', () => {
    const schema = JSON.parse(readFileSync(new URL('../../docs/schema/fleet.schema.json', import.meta.url), 'utf8'));
    const validate = validator(schema);
    assert.ok(validate(JSON.parse(session.text('fleet.json'))), JSON.stringify(validate.errors));
  });
});
