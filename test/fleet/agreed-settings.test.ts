import t from 'tap'
import { readConfig } from '../../src/configuration.ts'
import { agreedSettings } from '../../src/fleet/agreed-settings.ts'

const KEY = new Uint8Array(32).fill(7)
function settingsOf(environment: Readonly<Record<string, string>>, facts = {}): Record<string, string> {
  const reading = readConfig([], environment)
  if (reading.kind === 'invalid') throw new Error(reading.problems.join('\n'))
  return agreedSettings(reading.config, { hasNode: true, secretKey: KEY, ...facts })
}

t.test('each setting that must agree shows in the announcement, and no secret does', async (t) => {
  const own = settingsOf({})
  const changed = (flags: Readonly<Record<string, string>>, facts = {}): string[] => {
    const other = settingsOf(flags, facts)
    return Object.keys(other).filter((name) => other[name] !== own[name])
  }
  t.same(changed({}), [])
  t.same(changed({ MILLRACE_VENUES: 'phoenix' }), ['MILLRACE_VENUES'])
  t.same(changed({ MILLRACE_RETENTION_DAYS: '3' }), ['MILLRACE_RETENTION_DAYS', 'MILLRACE_SOURCE'])
  t.same(changed({ MILLRACE_REPLAY_HORIZON_SECONDS: '60' }), [
    'MILLRACE_REPLAY_HORIZON_SECONDS',
    'MILLRACE_SOURCE'
  ])
  t.same(changed({ MILLRACE_SOURCE: 'recorded' }), ['MILLRACE_SOURCE'], 'it keeps everything')
  t.same(changed({}, { hasNode: false }), ['MILLRACE_RPC_URL'])
  t.same(changed({}, { secretKey: new Uint8Array(32).fill(8) }), ['MILLRACE_WEBHOOK_SECRET_KEY'])
  const text = JSON.stringify(own)
  for (const encoding of ['hex', 'base64', 'base64url'] as const)
    t.notMatch(text, Buffer.from(KEY).toString(encoding).slice(0, 12))
})

t.test('a process that ingests alone states neither a node nor a key', async (t) => {
  const { MILLRACE_RPC_URL, MILLRACE_WEBHOOK_SECRET_KEY } = settingsOf(
    { MILLRACE_ROLE: 'ingest' },
    { secretKey: null }
  )
  t.same([MILLRACE_RPC_URL, MILLRACE_WEBHOOK_SECRET_KEY], [undefined, undefined])
})
