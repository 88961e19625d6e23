// roofline mcp under the command line of the protocol's official inspector (@modelcontextprotocol/inspector-cli, version 1:
// version 2 needs a newer node than Debian has). Skipped where the package is missing (npm ci in tests/mcp).
//
// usage: node inspector.js PATH_OF_ROOFLINE
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const skipped = 77;
const inspector = fileURLToPath(new URL('node_modules/@modelcontextprotocol/inspector-cli/', import.meta.url));
if (!existsSync(inspector)) {
  console.log('mcp_inspector: skipped: @modelcontextprotocol/inspector-cli is not installed (npm ci in tests/mcp)');
  process.exit(skipped);
}
const roofline = resolve(process.argv[2]);
const reports = fileURLToPath(new URL('../../reports/reference', import.meta.url));
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'roofline-inspector-')));
// It reads its own version from ../package.json of the working folder.
copyFileSync(join(inspector, 'package.json'), join(folder, 'package.json'));
mkdirSync(join(folder, 'work'));

/** What the inspector prints about one request to a server. */
function inspect(server, ...request) {
  const words = [join(inspector, 'build/index.js'), ...server, '--method', ...request];
  return spawnSync(process.execPath, words, { cwd: join(folder, 'work'), encoding: 'utf8', timeout: 120_000 });
}

function answer_of(...request) {
  const done = inspect([roofline, 'mcp', '--allow', reports], ...request);
  assert.equal(done.status, 0, done.stderr + done.stdout);
  return JSON.parse(done.stdout);
}

function call(tool, given) {
  const pairs = Object.entries(given).map(([name, value]) => `${name}=${value}`);
  return answer_of('tools/call', '--tool-name', tool, '--tool-arg', ...pairs);
}

function lists_tools() {
  const names = answer_of('tools/list').tools.map(tool => tool.name);
  for (const name of ['profile', 'report', 'compare', 'analyze', 'import', 'calibrate', 'bound', 'project']) {
    assert.ok(names.includes(name), name);
  }
}

function calls_tools() {
  const report = join(reports, 'h200-ops/report.json');
  const row = call('report', { report, row: '#1' });
  assert.ok(!row.isError && row.content[0].text.includes('relu fp32 2^28'), JSON.stringify(row));
  assert.ok(call('report', { report: '/etc/hostname' }).isError);
  const bound = call('bound', { problem: 'ops', machine: 'H100' });
  assert.ok(!bound.isError && bound.content[0].type === 'text', JSON.stringify(bound));
}

/** The inspector checks what it is given: a tool without a schema is no tool. */
function rejects_a_broken_server() {
  const server = join(folder, 'broken.mjs');
  writeFileSync(server, `
    import { createInterface } from 'node:readline';
    for await (const line of createInterface({ input: process.stdin })) {
      const { id, method, params } = JSON.parse(line);
      const result = method === 'initialize'
        ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } }
        : { tools: [{ name: 'nothing' }] };
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
    }`);
  assert.notEqual(inspect([process.execPath, server], 'tools/list').status, 0);
}

try {
  for (const check of [lists_tools, calls_tools, rejects_a_broken_server]) check();
  console.log('mcp_inspector: the official inspector found no fault');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
