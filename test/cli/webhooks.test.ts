import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { Documents } from '../../storage/documents.ts'
import { WEBHOOK } from '../../src/webhooks/webhook.ts'
import { NOON, URL_OF, webhookClient } from '../webhooks/webhook-client.ts'
import { runCommand } from './run-command.ts'
import { tenantShard } from '../../src/access/tenant-shard.ts'

/** A listening service, and the command `millrace webhooks` with a key of `acme`. */
async function service(t: Test) {
  const app = await webhookClient(t)
  await app.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.app.server.address() as AddressInfo
  const key = await app.makeKey(['webhooks'])
  const environment = { MILLRACE_KEY: key, MILLRACE_PORT: String(port) }
  const webhooks = (...args: string[]) => runCommand(['webhooks', ...args], environment)
  return { app, key, webhooks, environment, url: `http://127.0.0.1:${port}` }
}

t.test('a webhook is created, tested, rotated, enabled and deleted by commands', async (t) => {
  const { app, webhooks } = await service(t)
  const created = await webhooks('create', URL_OF, 'launches', 'venue:pumpfun', '--json')
  t.match({ code: created.code, stderr: created.stderr }, { code: 0, stderr: '' })
  const [made] = created.rows()
  t.match(made, { url: URL_OF, channels: ['launches', 'venue:pumpfun'], secret: /^whsec_/, active: true })
  const id = String(made!.id)

  t.match((await webhooks('list', '--json')).rows(), [{ id: made!.id, url: URL_OF, active: true }])
  t.match((await webhooks('get', id, '--json')).rows(), [{ id: made!.id, dropped_total: 0 }])
  t.match(await webhooks('test', id, '--json'), { code: 0, lines: [/"delivered":true/] })
  app.parts.outcome = { kind: 'failed', error: 'connection_refused', durationMs: 1 }
  t.match(await webhooks('test', id, '--json'), { code: 1, lines: [/"error":"connection_refused"/] })
  t.match((await webhooks('deliveries', id, '--json')).rows(), [
    { attempt: 0, error: 'connection_refused' },
    { attempt: 0, error: null }
  ])
  t.equal((await webhooks('deliveries', id, '--limit', '1', '--json')).lines.length, 1)

  const rotated = await webhooks('rotate-secret', id, '--grace', '60', '--json')
  t.match(rotated.rows(), [
    { secret: /^whsec_/, previous_secret_expires_at: new Date(NOON + 60_000).toISOString() }
  ])
  t.not(rotated.rows()[0]!.secret, made!.secret)
  t.match((await webhooks('enable', id, '--since', '77', '--json')).rows(), [{ active: true }])
  const documents = new Documents(app.storage.documents, WEBHOOK)
  const stored = await documents.get(tenantShard('acme'), ['acme', Number(id)])
  t.match(stored?.value, { since: 77, activation: 2 })
  t.equal((await webhooks('enable', id)).code, 0)
  t.match((await webhooks('delete', id, '--json')).rows(), [{ id: made!.id, deleted: true }])
  t.match(await webhooks('delete', id), {
    code: 1,
    lines: [],
    stderr: 'millrace: there is no webhook with this id'
  })
})

t.test('a list is a table with a line for each webhook, and one webhook a table of its fields', async (t) => {
  const { webhooks, app } = await service(t)
  t.strictSame((await webhooks('list')).lines.length, 1, 'the heading alone')
  const made = await webhooks('create', URL_OF, 'launches', 'pools', 'curves')
  t.match(made.lines[0], /^field +value$/)
  t.ok(made.lines.some((line) => /^secret +whsec_\S{44}$/.test(line)))
  const listed = await webhooks('list')
  t.match(
    listed.lines[0],
    /^id +url +channels +active +consecutive_failures +last_status +last_error +buffered +dropped_total$/
  )
  t.match(listed.lines[1], /^\d+ +https:\S+ +launches, pools, 1 more +true +0 +– +– +– +0$/)
  t.notOk(listed.lines.join('').includes('whsec_'))
  const [, id] = /^(\d+)/.exec(listed.lines[1]!)!
  app.parts.waiting = 3
  t.ok((await webhooks('get', id!)).lines.some((line) => /^buffered +3$/.test(line)))
  t.match((await webhooks('deliveries', id!)).lines[0], /^started_at +batch_id +attempt +events/)
})

t.test('a webhook of a store without blocks is enabled after a cursor without a warning', async (t) => {
  const { webhooks } = await service(t)
  const [made] = (await webhooks('create', URL_OF, 'pools', '--json')).rows()
  const enabled = await webhooks('enable', String(made!.id), '--since', '9007199254740991')
  t.match(enabled, { code: 0, stderr: '' })
  t.notOk(enabled.lines.some((line) => line.startsWith('warnings')))
})

t.test('a command that the service or the command line refuses ends with its reason', async (t) => {
  const { webhooks, environment, url, key, app } = await service(t)
  const [made] = (await webhooks('create', URL_OF, 'pools', '--json')).rows()
  const id = String(made!.id)
  const cases: [args: string[], code: number, stderr: RegExp][] = [
    [['create', URL_OF, 'launch'], 2, /^millrace: channels\.0: "launch" is not a channel/],
    [['create', URL_OF], 2, /CHANNEL is missing/],
    [['create'], 2, /RECEIVER is missing/],
    [['get'], 2, /ID is missing/],
    [['get', 'x'], 2, /id must be a whole number/],
    [['get', '0'], 1, /there is no webhook with this id/],
    [['enable', id, '--since', '1.5'], 2, /1\.5 is not a cursor/],
    [['rotate-secret', id, '--grace', 'x'], 2, /--grace is not a whole number/],
    [['rotate-secret', id, '--grace', '99999999'], 2, /grace_seconds must be a whole number between/],
    [['deliveries', id, '--limit', '0'], 2, /limit must be a whole number between 1 and 1000/],
    [['list', '--url', 'ftp://x'], 2, /ftp:\/\/x is not a URL/],
    [['list', '--url', 'http://127.0.0.1:1'], 1, /no service answers at http:\/\/127\.0\.0\.1:1/],
    [['lst'], 2, /did you mean list\?/]
  ]
  for (const [args, code, stderr] of cases)
    t.match(await webhooks(...args), { code, lines: [], stderr }, args.join(' '))
  app.parts.refused.add('http://10.0.0.5/')
  t.match(await webhooks('create', 'http://10.0.0.5/', 'pools'), { code: 1, stderr: /public addresses/ })
  t.match(await runCommand(['webhooks', 'list']), { code: 2, stderr: /set an API key.*MILLRACE_KEY/ })
  const wrong = await runCommand(['webhooks', 'list'], { ...environment, MILLRACE_KEY: 'a-key-of-nobody' })
  t.match(wrong, { code: 1, lines: [], stderr: /not known/ })
  t.match(await runCommand(['webhooks', 'list', '--url', `${url}/`, '--key', key]), { code: 0 })
})
