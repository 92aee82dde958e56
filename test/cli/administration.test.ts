import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { bootstrapKeys } from '../../src/access/bootstrap.ts'
import { storeDirectory } from '../../src/store/opening.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { ADMIN_KEY, spawnMillrace, startProcess } from '../service/service-process.ts'
import { runCommand as run, said, type Said } from './run-command.ts'

/** Runs a command in its own process, as a user does. */
async function runProcess(
  args: readonly string[],
  environment: Readonly<Record<string, string>>
): Promise<Said> {
  const child = spawnMillrace(args, environment)
  child.stdin!.end()
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit') as Promise<[number | null]>
  ])
  return said(code, stdout.split('\n').slice(0, -1), stderr)
}

/** Returns a data folder with a store that was started once. */
async function dataFolder(t: Test): Promise<string> {
  const dataDir = t.testdir({ store: {} })
  const storage = await openEmbeddedStorage({ directory: storeDirectory({ dataDir }) })
  await bootstrapKeys(storage, { adminKey: ADMIN_KEY, hasDemo: true }, 1)
  await storage.close()
  return dataDir
}

t.test('without a running service, tenants and keys are managed in the store', async (t) => {
  const dataDir = await dataFolder(t)
  const millrace = (...args: string[]) => run([...args, '--data-dir', dataDir])
  const created = await millrace('tenants', 'create', 'acme', '--json')
  t.match({ ...created, row: created.rows()[0] }, { code: 0, stderr: '', row: { name: 'acme', keys: 0 } })
  t.match(await millrace('tenants', 'create', 'acme'), {
    code: 1,
    lines: [],
    stderr: /there is a tenant acme/
  })

  const flags = [
    '--name',
    'charts',
    '--scopes',
    'data:read,stream',
    '--rate',
    '60',
    '--expires',
    '2099-01-01T00:00:00Z'
  ]
  const bounds = ['--allow-ip', '10.0.0.0/8', '--allow-ip', '::1', '--origin', 'https://app.example.org']
  const made = await millrace('keys', 'create', '--tenant', 'acme', ...flags, ...bounds, '--json')
  t.equal(made.code, 0, made.stderr)
  const key = made.rows()[0]!
  t.match(key, {
    key: /^mr_live_/,
    tenant: 'acme',
    name: 'charts',
    scopes: ['data:read', 'stream'],
    rate_limit_per_minute: 60,
    expires_at: '2099-01-01T00:00:00.000Z',
    allowed_ips: ['10.0.0.0/8', '::1'],
    cors_origins: ['https://app.example.org']
  })

  const rotated = await millrace('keys', 'rotate', String(key.id), '--grace', '3600', '--json')
  const next = rotated.rows()[0]!
  t.match(next, { name: 'charts', rate_limit_per_minute: 60, key: /^mr_live_/ })
  const listed = await millrace('keys', 'list', '--tenant', 'acme', '--json')
  t.match(listed.rows(), [
    { id: key.id, status: 'active', successor: next.id },
    { id: next.id, status: 'active', successor: null }
  ])
  t.match((await millrace('keys', 'revoke', String(key.id), '--json')).rows(), [
    { id: key.id, status: 'revoked' }
  ])
  t.match(await millrace('keys', 'revoke', 'nobody'), { code: 1, stderr: /no key of this id/ })
  const { code } = await runProcess(['keys', 'list', '--data-dir', dataDir], {})
  t.equal(code, 0)
  t.match(await millrace('keys', 'list', '--tenant', 'nobody'), { code: 1, stderr: /no tenant nobody/ })
})

t.test('a table has a heading, and a key beside it that is shown once', async (t) => {
  const dataDir = await dataFolder(t)
  const made = await run(['keys', 'create', '--tenant', 'demo', '--data-dir', dataDir])
  t.match(
    made.lines[0],
    /^id +tenant +name +prefix +status +scopes +rate_limit_per_minute +work_limit_per_minute +export_rows_per_day +expires_at$/
  )
  t.match(made.lines[1], /^[0-9a-f-]{36} +demo +– +mr_live_\w{4} +active +data:read,rpc:read.* +– +– +–$/)
  t.match(made.lines[2], /^key, shown only now: {2}mr_live_\w{24}_\w{6}$/)
  t.equal(made.lines.length, 3)
  const listed = await run(['keys', 'list', '--data-dir', dataDir])
  t.equal(listed.lines.length, 4)
  t.notOk(listed.lines.join('').includes(made.lines[2]!.slice(-30)))
})

t.test('a service that has the store open is asked, and the change is in effect at once', async (t) => {
  const dataDir = t.testdir({ data: {}, blocks: {} })
  const service = await startProcess({
    dataDir: join(dataDir, 'data'),
    recordedDir: join(dataDir, 'blocks'),
    more: ['--rate-limit-per-minute', '70']
  })
  const { port } = new URL(service.url)
  const environment = {
    MILLRACE_ADMIN_KEY: ADMIN_KEY,
    MILLRACE_DATA_DIR: join(dataDir, 'data'),
    MILLRACE_PORT: port
  }
  t.match((await runProcess(['tenants', 'create', 'acme', '--json'], environment)).rows(), [{ name: 'acme' }])
  const made = await run(['keys', 'create', '--tenant', 'acme', '--json'], environment)
  const { id, key } = made.rows()[0]!
  t.match((await service.get('/v1/me', String(key))).body, {
    tenant: 'acme',
    limits: { rate_limit_per_minute: 70 }
  })
  const url = { MILLRACE_ADMIN_KEY: ADMIN_KEY }
  t.equal((await run(['keys', 'revoke', String(id), '--url', `${service.url}/`], url)).code, 0)
  t.equal((await service.get('/v1/me', String(key))).body.code, 'key_revoked')
  t.match(await run(['keys', 'create', '--tenant', 'acme', '--rate', '0'], environment), {
    code: 2,
    lines: [],
    stderr: /rate_limit_per_minute must be a whole number between 1 and/
  })
  const keyless = { MILLRACE_DATA_DIR: join(dataDir, 'data'), MILLRACE_PORT: port }
  t.match(await run(['keys', 'list'], keyless), {
    code: 1,
    stderr: /open in another process; set MILLRACE_ADMIN_KEY/
  })
  const wrong = await run(['keys', 'list'], { ...environment, MILLRACE_ADMIN_KEY: 'a-wrong-key-of-somebody' })
  t.match(wrong, { code: 1, lines: [], stderr: /not known/ })
  t.notMatch(wrong.stderr, /a-wrong-key/)
  await service.end('SIGTERM')
})

t.test('a long list is asked for page by page', async (t) => {
  const asked: string[] = []
  const server = await listening((url) => {
    asked.push(url)
    const after = new URL(url, 'http://x').searchParams.get('after')
    const page = after === null ? 0 : Number(after)
    return { data: [{ name: `t${page}` }], nextCursor: page < 2 ? String(page + 1) : null }
  })
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const said = await run(['tenants', 'list', '--json', '--url', `http://127.0.0.1:${port}`], {
    MILLRACE_ADMIN_KEY: ADMIN_KEY
  })
  t.strictSame(said.rows(), [{ name: 't0' }, { name: 't1' }, { name: 't2' }])
  t.strictSame(
    asked,
    [0, 1, 2].map((page) => `/v1/admin/tenants?limit=1000${page === 0 ? '' : `&after=${page}`}`)
  )
})

t.test('the admin key does not go where an answer leads', async (t) => {
  const led: unknown[] = []
  const elsewhere = await listening((_url, headers) => led.push(headers))
  const { port } = elsewhere.address() as { port: number }
  const server = createServer((_request, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end()
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => [server.close(), elsewhere.close()])
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  const said = await run(['tenants', 'list', '--url', url], { MILLRACE_ADMIN_KEY: ADMIN_KEY })
  t.match(said, { code: 1, stderr: /no service answers at/ })
  t.strictSame(led, [])
})

t.test('an invalid command ends with 2 and names the valid ones', async (t) => {
  const dataDir = await dataFolder(t)
  const cases: [args: string[], line: RegExp][] = [
    [['keys'], /usage: millrace keys list/],
    [['keys', 'lst'], /usage: millrace keys rotate ID/],
    [['keys', 'constructor'], /usage: millrace keys list/],
    [['tenants', 'create'], /usage: millrace tenants create NAME/],
    [['tenants', 'create', 'a', 'b'], /usage: millrace tenants create NAME/],
    [['tenants', 'create', 'A'], /name must be 1 to 63 of a-z/],
    [['keys', 'create'], /--tenant/],
    [['keys', 'create', '--tenant', 'demo', '--rate', '1e3'], /--rate is not a whole number/],
    [['keys', 'create', '--tenant', 'demo', '--scopes', 'data:write'], /scopes.0 must be one of data:read/],
    [['keys', 'create', '--tenant', 'demo', '--colour', 'red'], /--colour/],
    [['keys', 'rotate', 'x', '--grace', '-1'], /--grace/],
    [['keys', 'list', '--port', 'http'], /--port="http" is not a whole number/]
  ]
  for (const [args, line] of cases)
    t.match(await run([...args, '--data-dir', dataDir]), { code: 2, lines: [], stderr: line }, args.join(' '))
})

t.test('an admin key that no header can carry is refused without being shown', async (t) => {
  for (const key of [
    'an admin key of the tests',
    'an-admin-key-of-thé-tests',
    'an-admin-key-of-the\ntests'
  ]) {
    const refused = await run(['keys', 'list'], { MILLRACE_ADMIN_KEY: key })
    t.match(refused, { code: 2, lines: [], stderr: /^millrace: MILLRACE_ADMIN_KEY has characters/ })
    t.notOk(refused.stderr.includes('tests'))
  }
})

t.test('without a store and a service, the command says so and creates nothing', async (t) => {
  const dataDir = t.testdir({})
  t.match(await run(['keys', 'list', '--data-dir', join(dataDir, 'none')]), {
    code: 1,
    stderr: /there is no store in/
  })
  const away = await run(['keys', 'list', '--url', 'http://127.0.0.1:1'], { MILLRACE_ADMIN_KEY: ADMIN_KEY })
  t.match(away, { code: 1, stderr: /no service answers at http:\/\/127\.0\.0\.1:1/ })
  t.match(await run(['keys', 'list', '--url', 'http://127.0.0.1:1']), {
    code: 1,
    stderr: /set MILLRACE_ADMIN_KEY/
  })
  const { readdirSync } = await import('node:fs')
  t.strictSame(readdirSync(dataDir), [])
})

async function listening(answer: (url: string, headers: unknown) => unknown): Promise<Server> {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer(request.url ?? '', request.headers)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}
