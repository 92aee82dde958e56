import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import t from 'tap'
import { signatureHeaders, signingKeysOf } from '../../src/webhooks/signature.ts'
import { POST_ERRORS } from '../../src/webhooks/post-error.ts'
import { randomRuns } from '../random-runs.ts'
import { PAGE, VECTOR } from './webhooks-page.ts'

const SECRET = VECTOR.secret!
const OLD_SECRET = VECTOR['previous secret']!

/** Headers of the page's test vector. */
const stated = Object.fromEntries(Object.entries(VECTOR).filter(([name]) => name.includes('-'))) as Readonly<
  Record<string, string>
>

const batch = {
  webhookId: 42,
  batchId: '0000000000000001',
  body: Buffer.from(VECTOR.body!),
  nowMs: 1_767_225_600_123
}

t.test('the test vector of the page is what a batch is signed with', async (t) => {
  t.same(signatureHeaders([SECRET, OLD_SECRET].map(signingKeysOf), batch), stated)
  t.equal(Object.keys(stated).length, 7)
})

t.test('a batch has one signature of each scheme but during a rotation', async (t) => {
  const headers = signatureHeaders([signingKeysOf(SECRET)], batch)
  t.equal(headers['X-MR-Signature'], stated['X-MR-Signature'])
  t.notHas(headers, { 'X-MR-Signature-Previous': String })
  t.equal(headers['webhook-signature'], stated['webhook-signature']!.split(' ')[0])
})

t.test('secrets of earlier rotations sign too, each in both schemes', async (t) => {
  const secrets = [
    SECRET,
    OLD_SECRET,
    ...[1, 2].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`)
  ]
  const headers = signatureHeaders(secrets.map(signingKeysOf), batch)
  const own = secrets.map((secret) => signatureHeaders([signingKeysOf(secret)], batch))
  t.same(
    [
      headers['X-MR-Signature'],
      headers['X-MR-Signature-Previous'],
      ...headers['X-MR-Signature-Earlier']!.split(', ')
    ],
    own.map((each) => each['X-MR-Signature'])
  )
  t.same(
    headers['webhook-signature']!.split(' '),
    own.map((each) => each['webhook-signature'])
  )
})

t.test('the schemes are those of the specification for every batch', async () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.string({ unit: 'binary' }),
      fc.integer({ min: 0, max: 4e12 }),
      fc.integer({ min: 1, max: 2 ** 48 - 1 }),
      fc.stringMatching(/^[0-9a-z]{1,32}$/),
      (bytes, text, nowMs, webhookId, batchId) => {
        const secret = `whsec_${Buffer.from(bytes).toString('base64')}`
        const headers = signatureHeaders([signingKeysOf(secret)], {
          webhookId,
          batchId,
          body: Buffer.from(text),
          nowMs
        })
        const hex = createHmac('sha256', secret)
          .update(Buffer.concat([Buffer.from(`${headers['X-MR-Timestamp']}.`), Buffer.from(text)]))
          .digest('hex')
        const standard = new StandardWebhook(secret)
        return (
          headers['X-MR-Timestamp'] === String(nowMs) &&
          headers['X-MR-Webhook-Id'] === String(webhookId) &&
          headers['X-MR-Signature'] === `sha256=${hex}` &&
          headers['webhook-signature'] ===
            standard.sign(`msg_${batchId}`, new Date(nowMs), Buffer.from(text)) &&
          headers['webhook-timestamp'] === String(Math.floor(nowMs / 1000))
        )
      }
    ),
    randomRuns(100)
  )
})

t.test('the reference library of Standard Webhooks verifies each secret of a rotation', async (t) => {
  const keys = [SECRET, OLD_SECRET].map(signingKeysOf)
  const headers = signatureHeaders(keys, { ...batch, nowMs: Date.now() })
  for (const secret of [SECRET, OLD_SECRET])
    t.same(new StandardWebhook(secret).verify(VECTOR.body!, headers), JSON.parse(VECTOR.body!))
  const other = new StandardWebhook(`whsec_${Buffer.alloc(32).toString('base64')}`)
  t.throws(() => other.verify(VECTOR.body!, headers), /No matching signature/)
  t.throws(() => new StandardWebhook(SECRET).verify(`${VECTOR.body!} `, headers), /No matching signature/)
})

t.test('the page lists every error of a delivery with its meaning', async (t) => {
  const table = PAGE.slice(PAGE.indexOf('| Error in the list of deliveries')).split('\n\n', 1)[0]!
  const rows = [...table.matchAll(/^\| `(\w+)` +\| (.*?) +\|$/gm)].map(([, word, meaning]) => [word, meaning])
  t.same(rows, Object.entries(POST_ERRORS))
})
