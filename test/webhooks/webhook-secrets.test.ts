import { randomBytes } from 'node:crypto'
import t from 'tap'
import { SECRETS_MAX, type Rotation } from '../../src/webhooks/rotation.ts'
import { storedAndRead } from './stored-webhook.ts'
import { WebhookSecrets } from '../../src/webhooks/webhook-secrets.ts'
import { WEBHOOK_ERRORS } from '../../src/webhooks/errors.ts'
import { ERRORS } from '../../src/kernel/errors.ts'

const NOW = 1_767_225_600_000
const HOOK = { tenant: 'acme', id: 42 }
const secrets = new WebhookSecrets(randomBytes(32))
const batch = (nowMs: number) => ({ id: 'a', body: Buffer.from('{}'), nowMs })
const count = (headers: Record<string, string>): number => headers['webhook-signature']!.split(' ').length

const until = (previousExpiresAtMs: number): Rotation => ({ nowMs: NOW, previousExpiresAtMs, operation: 'a' })

t.test('a made secret has 32 random bytes, a hint, and is sealed', async (t) => {
  const made = secrets.make(HOOK)
  t.match(made.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.equal(made.secretHint, made.secret.slice(-4))
  t.not(made.secret, secrets.make(HOOK).secret)
  t.equal(made.secrets.length, 1)
  const [stored] = made.secrets
  t.equal(stored!.expiresAtMs, null)
  t.notOk(Buffer.from(stored!.sealed).includes(made.secret.slice(6, 20)))
  t.equal(secrets.open(HOOK, stored!.sealed), made.secret)
})

t.test('the same secret is sealed differently each time', async (t) => {
  t.not(
    Buffer.from(secrets.seal(HOOK, 'whsec_AA==')).toString('hex'),
    Buffer.from(secrets.seal(HOOK, 'whsec_AA==')).toString('hex')
  )
})

t.test('a sealed secret opens for its webhook and its key alone, and undamaged', async (t) => {
  const sealed = secrets.seal(HOOK, 'whsec_c2VjcmV0')
  const refused = {
    name: 'ServiceError',
    kind: ERRORS.SERVICE_FAILED,
    detail: /set MILLRACE_WEBHOOK_SECRET_KEY to the key/
  }
  t.throws(() => secrets.open({ ...HOOK, tenant: 'other' }, sealed), refused)
  t.throws(() => secrets.open({ ...HOOK, id: 43 }, sealed), refused)
  t.throws(() => new WebhookSecrets(randomBytes(32)).open(HOOK, sealed), refused)
  for (let at = 0; at < sealed.length; at++) {
    const damaged = sealed.map((byte, index) => (index === at ? byte ^ 1 : byte))
    t.throws(() => secrets.open(HOOK, damaged), refused)
  }
  for (const length of [0, 11, 12, 27, 28, sealed.length - 1])
    t.throws(() => secrets.open(HOOK, sealed.subarray(0, length)), refused, `${length} bytes`)
})

t.test('a rotated secret and the previous one sign until the grace ends', async (t) => {
  const first = secrets.make(HOOK)
  const rotated = secrets.rotate({ ...HOOK, secrets: first.secrets }, until(NOW + 1_000))
  t.equal(secrets.open(HOOK, rotated.secrets[0]!.sealed), rotated.secret)
  t.equal(secrets.open(HOOK, rotated.secrets[1]!.sealed), first.secret)
  const hook = { ...HOOK, secrets: rotated.secrets }
  t.equal(count(secrets.headers(hook, batch(NOW + 999))), 2)
  t.equal(count(secrets.headers(hook, batch(NOW + 1_000))), 1)
  t.notHas(secrets.headers(hook, batch(NOW + 1_000)), { 'X-MR-Signature-Previous': String })
})

t.test('a rotation within the grace of another leaves each secret to sign until its own time', async (t) => {
  const first = secrets.make(HOOK)
  const second = secrets.rotate({ ...HOOK, secrets: first.secrets }, until(NOW + 1_000))
  const third = secrets.rotate({ ...HOOK, secrets: second.secrets }, until(NOW + 2_000))
  t.same(
    third.secrets.map(({ sealed, expiresAtMs }) => [secrets.open(HOOK, sealed), expiresAtMs]),
    [
      [third.secret, null],
      [second.secret, NOW + 2_000],
      [first.secret, NOW + 1_000]
    ]
  )
  const hook = { ...HOOK, secrets: third.secrets }
  t.strictSame(
    [0, 1_000, 2_000].map((ms) => count(secrets.headers(hook, batch(NOW + ms)))),
    [3, 2, 1]
  )
  const fourth = secrets.rotate(hook, { ...until(NOW + 5_000), nowMs: NOW + 1_000 })
  t.equal(fourth.secrets.length, 3, 'one that no longer signs is dropped')
})

t.test('ten secrets sign at most; then a rotation without grace ends all but the new one', async (t) => {
  let hook = { ...HOOK, secrets: secrets.make(HOOK).secrets }
  const rotate = (rotation: Rotation): void =>
    void (hook = { ...HOOK, secrets: secrets.rotate(hook, rotation).secrets })
  for (let n = 2; n <= SECRETS_MAX; n++) rotate(until(NOW + n))
  t.throws(() => rotate(until(NOW + 100)), {
    name: 'ServiceError',
    kind: WEBHOOK_ERRORS.SECRET_LIMIT_REACHED
  })
  t.equal(count(secrets.headers(hook, batch(NOW))), SECRETS_MAX, 'what was refused changed nothing')
  rotate(until(NOW))
  t.equal(count(secrets.headers(hook, batch(NOW))), 1)
})

t.test('text is opened for the purpose that it was sealed for alone', async (t) => {
  const sealed = secrets.sealText('api-key', 'mr_live_x')
  t.notMatch(sealed, 'mr_live')
  t.equal(secrets.openText('api-key', sealed), 'mr_live_x')
  t.throws(() => secrets.openText('webhook', sealed), { name: 'ServiceError', kind: ERRORS.SERVICE_FAILED })
})

t.test('a grace of nothing leaves the new secret alone', async (t) => {
  const rotated = secrets.rotate({ ...HOOK, secrets: secrets.make(HOOK).secrets }, until(NOW))
  t.equal(count(secrets.headers({ ...HOOK, secrets: rotated.secrets }, batch(NOW))), 1)
})

t.test('the number of an attempt is in a header, and changes no signature', async (t) => {
  const hook = { ...HOOK, secrets: secrets.make(HOOK).secrets }
  const { 'X-MR-Attempt': attempt, ...rest } = secrets.headers(hook, { ...batch(NOW), attempt: 2 })
  t.equal(attempt, '2')
  t.same(rest, secrets.headers(hook, batch(NOW)))
})

t.test('secrets that were stored and read again sign as before', async (t) => {
  const hook = { ...HOOK, secrets: secrets.make(HOOK).secrets }
  t.same(secrets.headers(storedAndRead(hook), batch(NOW)), secrets.headers(hook, batch(NOW)))
})
