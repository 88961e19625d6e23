// All tests of the pages in one process, so that they share one Chromium and the sample pages.
import { readdirSync } from 'node:fs';

for (const file of readdirSync(new URL('.', import.meta.url))) {
  if (file.endsWith('.test.js')) await import(`./${file}`);
}
