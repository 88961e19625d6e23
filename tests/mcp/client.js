// roofline mcp, spoken to by the protocol's official client, which checks every message against the protocol's schemas.
// Skipped where its packages are missing (npm ci in tests/mcp; scripts/setup test does that).
//
// usage: node client.js PATH_OF_ROOFLINE
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const skipped = 77;
if (!existsSync(new URL('node_modules/@modelcontextprotocol/sdk', import.meta.url))) {
  console.log('mcp_client: skipped: the package @modelcontextprotocol/sdk is not installed (npm ci in tests/mcp)');
  process.exit(skipped);
}
const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
const { ErrorCode, SUPPORTED_PROTOCOL_VERSIONS } = await import('@modelcontextprotocol/sdk/types.js');

const roofline = resolve(process.argv[2]);
const reports = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../../reports/reference');
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'roofline-mcp-')));

/** A connected client; `problems` collects what its library could not read. */
async function connect() {
  const client = new Client({ name: 'test', version: '1' }, { capabilities: {} });
  const problems = [];
  client.onerror = error => problems.push(error);
  const environment = { ...process.env, XDG_CACHE_HOME: join(folder, 'cache') };
  await client.connect(new StdioClientTransport(
    { command: roofline, args: ['mcp', '--allow', reports], cwd: folder, env: environment }));
  return { client, problems };
}

const text_of = result => result.content.map(part => part.text).join('');

async function tools_have_schemas({ client }) {
  assert.equal(client.getServerVersion().name, 'roofline');
  const { tools } = await client.listTools();
  for (const name of ['calibrate', 'analyze', 'profile', 'report', 'compare', 'import', 'bound', 'project']) {
    assert.ok(tools.some(tool => tool.name === name), name);
  }
  for (const tool of tools) {
    assert.equal(tool.inputSchema.type, 'object', tool.name);
    for (const name of tool.inputSchema.required ?? []) assert.ok(name in tool.inputSchema.properties, `${tool.name} ${name}`);
  }
}

async function results_and_errors({ client }) {
  const report = join(reports, 'h200-ops/report.json');
  const call = (name, given) => client.callTool({ name, arguments: given });
  const row = await call('report', { report, row: '#1' });
  assert.ok(!row.isError && text_of(row).includes('relu fp32 2^28'), text_of(row));
  const outside = await call('report', { report: '/etc/hostname' });
  assert.ok(outside.isError, text_of(outside));
  const wrong = await call('bound', { problem: 'ops', machine: 'H100', batch: 0 });
  assert.ok(wrong.isError && text_of(wrong).includes('batch'), text_of(wrong));
  await assert.rejects(call('explode', {}), error => error.code === ErrorCode.InvalidParams);
  await assert.rejects(client.request({ method: 'resources/list', params: {} }, await any_schema()),
    error => error.code === ErrorCode.MethodNotFound);
}

async function any_schema() {
  const { EmptyResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
  return EmptyResultSchema;
}

async function progress_then_cancel({ client }) {
  writeFileSync(join(folder, 'endless.sh'), 'while :; do sleep 0.1; done\n');
  const stop = new AbortController();
  const reported = [];
  const call = client.callTool({ name: 'profile', arguments: { program: ['sh', 'endless.sh'], device: 'cpu' } }, undefined, {
    signal: stop.signal,
    timeout: 300_000,
    onprogress: progress => {
      reported.push(progress.progress);
      if (reported.length === 2) stop.abort();
    },
  });
  await assert.rejects(call);
  assert.ok(reported[1] > reported[0], reported.join());
  await client.ping();
  const after = await client.callTool({ name: 'bound', arguments: { problem: 'ops', machine: 'H100' } });
  assert.ok(!after.isError, text_of(after));
}

/** Clients of every version that the library knows get one that they know. */
async function versions() {
  const { spawnSync } = await import('node:child_process');
  for (const version of SUPPORTED_PROTOCOL_VERSIONS.filter(version => version >= '2024-11-05')) {
    const request = { jsonrpc: '2.0', id: 1, method: 'initialize', params:
      { protocolVersion: version, capabilities: {}, clientInfo: { name: 'old', version: '1' } } };
    const { stdout } = spawnSync(roofline, ['mcp'], { cwd: folder, input: `${JSON.stringify(request)}\n`, encoding: 'utf8' });
    const spoken = JSON.parse(stdout).result.protocolVersion;
    assert.ok(SUPPORTED_PROTOCOL_VERSIONS.includes(spoken) && spoken <= version, `${version}: ${spoken}`);
  }
}

try {
  const connected = await connect();
  for (const check of [tools_have_schemas, results_and_errors, progress_then_cancel]) await check(connected);
  await connected.client.close();
  assert.deepEqual(connected.problems, []);
  await versions();
  console.log('mcp_client: the official client found no fault');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
