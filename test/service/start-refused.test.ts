import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { Test } from 'tap'
import { startBusyLocalnetProcess } from './localnet-process.ts'
import { spawnMillrace } from './service-process.ts'

/** Starts the service, which must exit without a signal. Asserts exit code 1 and one line on standard error. */
async function assertRefused(t: Test, args: readonly string[], line: RegExp): Promise<void> {
  const child = spawnMillrace(['serve', '--log-level', 'debug', '--log-format', 'json', ...args])
  t.teardown(() => child.kill('SIGKILL'))
  const [stderr, [code]] = await Promise.all([
    text(child.stderr!),
    once(child, 'exit') as Promise<[number | null]>
  ])
  t.equal(code, 1, 'exit code')
  const told = stderr.split('\n').filter((each) => each.startsWith('millrace: '))
  t.equal(told.length, 1, 'one line says why')
  t.match(told[0], line)
  t.notMatch(stderr, /\n\s+at /, 'a setting is no reason for a stack trace')
  t.notMatch(stderr, /"stack"/)
}

t.test(
  'a port that another process has ends the start, and the line names the port and the setting',
  async (t) => {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    const dataDir = t.testdir()
    await assertRefused(
      t,
      ['--data-dir', dataDir, '--port', String(port)],
      new RegExp(`cannot listen on 127\\.0\\.0\\.1:${port} \\(EADDRINUSE\\).*MILLRACE_PORT`)
    )
    await assertRefused(
      t,
      ['--data-dir', dataDir, '--port', '0', '--rpc-ws-compat-port', String(port)],
      new RegExp(
        `cannot listen on 127\\.0\\.0\\.1:${port} \\(EADDRINUSE\\).*MILLRACE_RPC_WS_COMPAT_PORT .* to a free port`
      )
    )
    t.strictSame(readdirSync(dataDir), [], 'before anything was made')
  }
)

t.test('an address that the machine does not have ends the start', async (t) => {
  await assertRefused(
    t,
    ['--data-dir', t.testdir(), '--port', '0', '--host', '192.0.2.1'],
    /cannot listen on 192\.0\.2\.1:0 \(EADDRNOTAVAIL\).*MILLRACE_HOST/
  )
})

t.test('a data directory that another process has open ends the start', async (t) => {
  const dataDir = t.testdir()
  await startBusyLocalnetProcess(t, dataDir)
  await assertRefused(
    t,
    ['--data-dir', dataDir, '--port', '0'],
    /the store in .* is open in another process \(MILLRACE_DATA_DIR=/
  )
})

t.test('a data directory that cannot be made ends the start', async (t) => {
  const dataDir = join(t.testdir({ file: 'not a directory' }), 'file')
  await assertRefused(t, ['--data-dir', dataDir, '--port', '0'], /MILLRACE_DATA_DIR=.*file/)
  // It exists, and has no room for a new one: its error is that of a directory whose parent is missing.
  if (process.platform !== 'linux') return
  await assertRefused(
    t,
    ['--data-dir', '/proc/data', '--port', '0'],
    /MILLRACE_DATA_DIR=\/proc\/data cannot be created/
  )
})

for (const name of ['store', 'localnet'])
  t.test(`a file where the ${name}'s directory should be ends the start, before keys are made`, async (t) => {
    const dataDir = t.testdir({ [name]: 'a file' })
    await assertRefused(
      t,
      ['--data-dir', dataDir, '--port', '0'],
      new RegExp(`${dataDir}/${name} is not a directory \\(MILLRACE_DATA_DIR=${dataDir}\\)`)
    )
    t.strictSame(readdirSync(dataDir), [name])
  })

t.test('a store directory that holds something else ends the start', async (t) => {
  const dataDir = t.testdir()
  mkdirSync(join(dataDir, 'store'))
  mkdirSync(join(dataDir, 'localnet'))
  writeFileSync(join(dataDir, 'store/CURRENT'), 'MANIFEST-000001\n')
  await assertRefused(
    t,
    ['--data-dir', dataDir, '--port', '0'],
    /the store in .* cannot be opened: .*MILLRACE_DATA_DIR=/
  )
})

t.test("a localnet's chain that cannot be opened ends the start", async (t) => {
  const cases: [directory: Record<string, string | Record<string, string>>, line: RegExp][] = [
    [
      { chain: { CURRENT: 'MANIFEST-000009\n' } },
      /the localnet cannot use .*: the localnet's chain in .* cannot be opened: /
    ],
    [{ chain: 'a file' }, /the localnet cannot use .*: the localnet's chain in .* cannot be opened: /],
    [{ seed: {} }, /the localnet cannot use .*EISDIR.*MILLRACE_DATA_DIR/],
    [{ market: 'flea' }, /the localnet cannot use .*names no market: flea/]
  ]
  for (const [localnet, line] of cases)
    await assertRefused(t, ['--data-dir', t.testdir({ localnet }), '--port', '0'], line)
})
