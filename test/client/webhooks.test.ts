import fc from 'fast-check'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import t from 'tap'
import { verify, WebhookVerificationError } from '../../src/client/webhooks.ts'
import { signatureHeaders, signingKeysOf } from '../../src/webhooks/signature.ts'
import { randomRuns } from '../random-runs.ts'
import { VECTOR } from '../webhooks/webhooks-page.ts'

const NOW = 1_767_225_600_123
const SECRET = VECTOR.secret!
const OLD_SECRET = VECTOR['previous secret']!
const BODY = VECTOR.body!
const BATCH = JSON.parse(BODY) as object
const now = { nowMs: NOW }

type Headers_ = Readonly<Record<string, string>>

const signed = (body = BODY, secrets = [SECRET]): Headers_ =>
  signatureHeaders(secrets.map(signingKeysOf), {
    webhookId: 42,
    batchId: '0000000000000001',
    body: Buffer.from(body),
    nowMs: NOW
  })
/** The headers of one scheme. */
const only = (headers: Headers_, scheme: 'webhook-' | 'X-MR-'): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith(scheme)))

const codeOf = (verified: Promise<unknown>): Promise<string> =>
  verified.then(
    () => 'verified',
    (error: unknown) => (error instanceof WebhookVerificationError ? error.code : String(error))
  )

t.test('a delivery is verified by either scheme, and returned as a batch', async (t) => {
  for (const headers of [signed(), only(signed(), 'webhook-'), only(signed(), 'X-MR-')])
    t.same(await verify(headers, BODY, SECRET, now), BATCH)
})

t.test('headers are taken as frameworks have them', async (t) => {
  const lower = Object.fromEntries(
    Object.entries(signed()).map(([name, value]) => [name.toLowerCase(), value])
  )
  const lists = Object.fromEntries(Object.entries(lower).map(([name, value]) => [name, [value]]))
  for (const headers of [lower, lists, new Headers(signed()), new Map(Object.entries(lower))] as never[])
    t.same(await verify(headers, BODY, SECRET, now), BATCH)
})

t.test('a body is taken as text and as bytes of any kind', async (t) => {
  const bytes = new TextEncoder().encode(BODY)
  const inside = new Uint8Array(bytes.length + 8).fill(32)
  inside.set(bytes, 3)
  for (const body of [BODY, bytes, Buffer.from(BODY), bytes.buffer, inside.subarray(3, 3 + bytes.length)])
    t.same(await verify(signed(), body, SECRET, now), BATCH)
  const parsed = verify(signed(), BATCH as never, SECRET, now)
  t.equal(await codeOf(parsed), 'invalid_body', 'a parsed body is refused')
})

t.test('a receiver that still has the secret of an earlier rotation verifies by either scheme', async (t) => {
  const fill = (byte: number): string => `whsec_${Buffer.alloc(32, byte).toString('base64')}`
  const secrets = [SECRET, OLD_SECRET, fill(1), fill(2)]
  for (const scheme of ['webhook-', 'X-MR-'] as const)
    for (const secret of secrets)
      t.same(await verify(only(signed(BODY, secrets), scheme), BODY, secret, now), BATCH, secret)
})

t.test('the vector of the page is verified with the new and with the old secret', async (t) => {
  const both = signed(BODY, [SECRET, OLD_SECRET])
  for (const secret of [SECRET, OLD_SECRET])
    for (const headers of [only(both, 'webhook-'), only(both, 'X-MR-')])
      t.same(await verify(headers, BODY, secret, now), BATCH)
})

t.test('what the reference library signs is verified', async (t) => {
  const at = new Date(NOW)
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(NOW / 1000)),
    'webhook-signature': new StandardWebhook(SECRET).sign('msg_1', at, BODY)
  }
  t.same(await verify(headers, BODY, SECRET, now), BATCH)
  const others = { ...headers, 'webhook-signature': `v1a,AAAA v2,BBBB ${headers['webhook-signature']}` }
  t.same(await verify(others, BODY, SECRET, now), BATCH, 'signatures of other versions are passed over')
})

t.test('a delivery that must not be trusted is refused with the reason', async (t) => {
  const headers = signed()
  const [standard, own] = [only(headers, 'webhook-'), only(headers, 'X-MR-')]
  const without = (name: string, from: Headers_): Headers_ =>
    Object.fromEntries(Object.entries(from).filter(([each]) => each !== name))
  const cases: [name: string, headers: Headers_, body: string, secret: string, code: string][] = [
    ['another body', headers, `${BODY} `, SECRET, 'signature_mismatch'],
    ['another secret', headers, BODY, OLD_SECRET, 'signature_mismatch'],
    ['the secret without its beginning', headers, BODY, SECRET.slice(6), 'invalid_secret'],
    ['no secret', headers, BODY, '', 'invalid_secret'],
    ['an empty secret', headers, BODY, 'whsec_', 'invalid_secret'],
    ['a secret of no base64', headers, BODY, 'whsec_!', 'invalid_secret'],
    ['no headers', {}, BODY, SECRET, 'missing_header'],
    ['no id', without('webhook-id', standard), BODY, SECRET, 'missing_header'],
    ['no time', without('webhook-timestamp', standard), BODY, SECRET, 'missing_header'],
    ['no time of ours', without('X-MR-Timestamp', own), BODY, SECRET, 'missing_header'],
    ['another id', { ...standard, 'webhook-id': 'msg_2' }, BODY, SECRET, 'signature_mismatch'],
    ['another time', { ...standard, 'webhook-timestamp': '1767225601' }, BODY, SECRET, 'signature_mismatch'],
    ['a time of no number', { ...standard, 'webhook-timestamp': 'now' }, BODY, SECRET, 'invalid_timestamp'],
    [
      'another time of ours',
      { ...own, 'X-MR-Timestamp': String(NOW + 1) },
      BODY,
      SECRET,
      'signature_mismatch'
    ],
    ['no signature', { ...standard, 'webhook-signature': '' }, BODY, SECRET, 'signature_mismatch'],
    ['no base64', { ...standard, 'webhook-signature': 'v1,!' }, BODY, SECRET, 'signature_mismatch'],
    [
      'half',
      { ...own, 'X-MR-Signature': own['X-MR-Signature']!.slice(0, 30) },
      BODY,
      SECRET,
      'signature_mismatch'
    ],
    [
      'no scheme',
      { ...own, 'X-MR-Signature': own['X-MR-Signature']!.slice(7) },
      BODY,
      SECRET,
      'signature_mismatch'
    ]
  ]
  for (const [name, given, body, secret, code] of cases)
    t.equal(await codeOf(verify(given, body, secret, now)), code, name)
  t.equal(await codeOf(verify(signed('no JSON'), 'no JSON', SECRET, now)), 'invalid_body')
})

t.test('a delivery is verified within the tolerance of the clock, and refused outside', async (t) => {
  const within = (offsetMs: number, toleranceSeconds?: number): Promise<string> =>
    codeOf(
      verify(only(signed(), 'X-MR-'), BODY, SECRET, {
        nowMs: NOW + offsetMs,
        ...(toleranceSeconds !== undefined && { toleranceSeconds })
      })
    )
  t.equal(await within(300_000), 'verified')
  t.equal(await within(-300_000), 'verified')
  t.equal(await within(301_000), 'timestamp_too_old')
  t.equal(await within(-301_000), 'timestamp_too_new')
  t.equal(await within(301_000, 400), 'verified')
  t.equal(await within(11_000, 10), 'timestamp_too_old')
  t.equal(await codeOf(verify(signed(), BODY, SECRET)), 'timestamp_too_old', 'by the clock of the platform')
})

t.test('what the service signs is verified, and any changed byte is not', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.json(),
      fc.nat(),
      fc.constantFrom('webhook-' as const, 'X-MR-' as const),
      async (body, place, scheme) => {
        const headers = only(signed(body), scheme)
        if ((await codeOf(verify(headers, body, SECRET, now))) !== 'verified') return false
        const bytes = Buffer.from(body)
        bytes[place % bytes.length]! ^= 1
        return (await codeOf(verify(headers, bytes, SECRET, now))) === 'signature_mismatch'
      }
    ),
    randomRuns(100)
  )
})
