import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeApiKey } from '../../src/access/api-key.ts'
import { ADMIN_KEY, startProcess } from '../service/service-process.ts'

/** Returns the secret part of a key: everything after its prefix. */
const secretOf = (key: string): string => key.slice(12)

t.test('a key that is sent in any place, right or wrong, appears in no log and no answer', async (t) => {
  const dataDir = t.testdir({ data: {}, blocks: {} })
  const service = await startProcess({
    dataDir: join(dataDir, 'data'),
    recordedDir: join(dataDir, 'blocks'),
    more: ['--log-level', 'trace', '--log-format', 'json']
  })
  const answers: string[] = []
  const ask = async (path: string, init: RequestInit = {}): Promise<Record<string, unknown>> => {
    const response = await fetch(service.url + path, init)
    const text = await response.text()
    answers.push(text, JSON.stringify([...response.headers]))
    return (response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : {}) as Record<
      string,
      unknown
    >
  }
  const admin = (path: string, body?: unknown) =>
    ask(path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })

  await admin('/v1/admin/tenants', { name: 'acme' })
  const made = await admin('/v1/admin/keys', { tenant: 'acme' })
  const next = await admin(`/v1/admin/keys/${String(made.id)}/rotate`, { grace_seconds: 60 })
  const other = await admin('/v1/admin/keys', { tenant: 'acme' })
  const shown = answers.splice(0)
  const keys = [String(made.key), String(next.key), String(other.key), makeApiKey()]
  for (const key of keys) {
    const sent: [path: string, init?: RequestInit][] = [
      ['/v1/launches', { headers: { 'x-api-key': key } }],
      ['/v1/launches', { headers: { authorization: `Bearer ${key}` } }],
      [
        '/v1/launches',
        { headers: { authorization: `Basic ${key}`, cookie: `key=${key}`, referer: `http://x/${key}` } }
      ],
      [
        '/v1/launches',
        { headers: { 'x-api-key': key, origin: `https://${key}.example`, 'user-agent': key } }
      ],
      [`/v1/launches?api-key=${key}&key=${key}&after=${key}&${key}=1`, { headers: { 'x-api-key': key } }],
      [`/v1/tokens/${key}/trades`, { headers: { 'x-api-key': key } }],
      [`/${key}`],
      [`/v1/launches/${key}?${key}`],
      [`/v1/admin/keys/${key}`, { headers: { 'x-api-key': ADMIN_KEY } }],
      [`/v1/admin/keys?after=${key}&tenant=${key}`, { headers: { 'x-api-key': ADMIN_KEY } }],
      ['/v1/launches', { method: 'POST', body: key }],
      ['/v1/me', { headers: { 'x-api-key': key } }]
    ]
    for (const [path, init] of sent) await ask(path, init)
    await admin('/v1/admin/tenants', { name: key })
    await admin('/v1/admin/keys', { tenant: 'acme', name: 5, scopes: [key], key })
    await admin('/v1/admin/keys', { tenant: 'nobody', name: key })
  }
  for (const path of ['/v1/admin/tree', '/v1/admin/decoding', '/v1/admin/keys', '/v1/admin/tenants'])
    await admin(path)
  await ask('/metrics')
  t.ok(answers.length > 100)
  t.same(await service.end('SIGTERM'), { code: 0, signal: null })

  const logged = service.stderr.join('\n')
  t.ok(service.stderr.filter((line) => line.includes('"path"')).length > 50, 'every request left its line')
  const stored = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
  t.ok(stored.join('').includes(String(made.key).slice(0, 12)), 'this is where keys are stored')
  for (const key of [...keys, ADMIN_KEY]) {
    const secret = secretOf(key)
    t.notOk(logged.includes(secret), 'no line of the log has it')
    t.notOk(answers.join('\n').includes(secret), 'no answer, metric, error or view has it')
    t.notOk(stored.join('').includes(secret), 'no file has it')
  }
  for (const key of [String(made.key), String(next.key)])
    t.equal(shown.join('').split(key).length - 1, 1, 'it was shown once')
})
