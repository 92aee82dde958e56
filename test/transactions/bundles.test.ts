import { AddressLookupTableAccount } from '@solana/web3.js'
import t from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { bundleIdOf } from '../../src/signing/bundle-id.ts'
import { BUNDLE, firstProgress, type BundleProgress } from '../../src/transactions/bundle.ts'
import { Documents } from '../../storage/documents.ts'
import { TIP_ACCOUNT } from './fake-transactions.ts'
import { BLOCKHASH, signedWire, toBase64, transfer, wallet } from './signed.ts'
import { NOON, transactionClient, transferText } from './transaction-client.ts'

const PATH = '/v1/tx/bundle'
const TIP = transferText(1_000n, TIP_ACCOUNT)

const signatureOf = (text: string): string =>
  encodeBase58(new Uint8Array(Buffer.from(text, 'base64')).subarray(1, 65))
const idOf = (txs: readonly string[]): string => bundleIdOf(txs.map(signatureOf))

t.test('a bundle is stored, answered with its id, and handed to tracking once', async (t) => {
  const app = await transactionClient(t)
  const txs = [transferText(1n), transferText(2n), TIP]
  const { status, body } = await app.call('POST', PATH, { txs })
  t.equal(status, 200)
  t.strictSame(body, { bundle_id: idOf(txs), signatures: txs.map(signatureOf) })
  t.match(
    app.parts.begunBundles.map(({ value }) => value),
    [
      {
        tenant: 'acme',
        bundleId: idOf(txs),
        signatures: txs.map(signatureOf),
        blockhashes: [BLOCKHASH],
        tipLamports: 1_000n,
        receivedAtMs: NOON,
        end: null
      }
    ]
  )
  t.same(app.parts.begunBundles[0]!.value.wires!.map(toBase64), txs, 'the members are stored as they came')
  t.strictSame((await app.call('GET', `${PATH}/${idOf(txs)}/status`)).body, {
    bundle_id: idOf(txs),
    status: 'pending',
    landed_slot: null,
    signatures: txs.map(signatureOf),
    confirmation_status: null,
    err: null,
    reason: null,
    tip_lamports: 1_000,
    submitted_at: '2026-08-24T12:00:00.000Z',
    updated_at: '2026-08-24T12:00:00.000Z'
  })
  t.strictSame((await app.call('POST', PATH, { txs })).body, body, 'a repeat is answered alike')
  t.equal(app.parts.begunBundles.length, 1)
  // Another order is another bundle.
  const turned = [txs[1]!, txs[0]!, TIP]
  t.not((await app.call('POST', PATH, { txs: turned })).body.bundle_id, body.bundle_id)
})

t.test('an Idempotency-Key makes a repeat safe, and is refused for another bundle', async (t) => {
  const app = await transactionClient(t)
  const headers = { 'idempotency-key': 'one' }
  const first = await app.call('POST', PATH, { txs: [TIP] }, headers)
  // The tip accounts change; the first request was checked with those of its time.
  app.parts.tipAccounts = []
  t.strictSame((await app.call('POST', PATH, { txs: [TIP] }, headers)).body, first.body)
  t.match(await app.call('POST', PATH, { txs: [transferText(9n), TIP] }, headers), {
    status: 422,
    body: { code: 'idempotency_key_reused' }
  })
  t.equal(app.parts.begunBundles.length, 1)
})

const PROGRESS: [name: string, progress: Partial<BundleProgress>, body: object][] = [
  ['queued', { state: 'queued' }, { status: 'pending' }],
  ['being submitted', { state: 'submitting' }, { status: 'pending' }],
  ['with a lost answer', { state: 'unsure' }, { status: 'pending' }],
  [
    'refused by the engine',
    { state: 'rejected', err: { code: -32602, message: 'no' } },
    { status: 'failed', err: { code: -32602, message: 'no' }, reason: null, landed_slot: null }
  ],
  [
    'in a block',
    { state: 'processed', slot: 7 },
    { status: 'landed', landed_slot: 7, confirmation_status: 'processed' }
  ],
  ['confirmed', { state: 'confirmed', slot: 7 }, { status: 'landed', confirmation_status: 'confirmed' }],
  ['finalized', { state: 'finalized', slot: 7 }, { status: 'landed', confirmation_status: 'finalized' }],
  [
    'expired',
    { state: 'failed', reason: 'blockhash_expired' },
    { status: 'failed', reason: 'blockhash_expired', confirmation_status: null }
  ]
]

t.test('the status is that of the stored progress', async (t) => {
  const app = await transactionClient(t)
  await app.call('POST', PATH, { txs: [TIP] })
  const [stored] = app.parts.begunBundles
  const documents = new Documents(app.storage.documents, BUNDLE)
  for (const [name, changed, body] of PROGRESS) {
    const progress = { ...firstProgress(stored!.value, 1), updatedAtMs: NOON + 5_000, ...changed }
    await documents.putHot(stored!, 1, progress)
    const answer = await app.call('GET', `${PATH}/${idOf([TIP])}/status`)
    t.match(answer.body, { ...body, updated_at: '2026-08-24T12:00:05.000Z' }, name)
    if (!('landed_slot' in body) && !('confirmation_status' in body)) t.equal(answer.body.landed_slot, null)
  }
  const end = { ...firstProgress(stored!.value, 1), state: 'finalized' as const, slot: 9 }
  await documents.update(stored!, { ...stored!.value, wires: null, end })
  t.match((await app.call('GET', `${PATH}/${idOf([TIP])}/status`)).body, { status: 'landed', landed_slot: 9 })
})

t.test(
  'the status of a member names its bundle, its chain facts, and when it can land no more',
  async (t) => {
    const app = await transactionClient(t)
    const txs = [transferText(1n), TIP]
    const [member] = txs.map(signatureOf) as [string]
    const status = async () => (await app.call('GET', `/v1/tx/${member}/status`)).body
    const bundle = {
      route: 'jito',
      bundle_id: idOf(txs),
      received_at: '2026-08-24T12:00:00.000Z',
      tracking: false
    }
    await app.call('POST', PATH, { txs })
    t.match(await status(), {
      ...bundle,
      status: 'unknown',
      state: 'sent',
      expired: false,
      first_sent_at: null
    })
    const documents = new Documents(app.storage.documents, BUNDLE)
    const [stored] = app.parts.begunBundles
    const submitted = {
      ...firstProgress(stored!.value, 1),
      submittedAtMs: NOON + 100,
      lastValidBlockHeight: 1_150
    }
    await documents.putHot(stored!, 1, submitted)
    app.nowMs += 1_000
    app.parts.chain.set(member, { slot: 7, confirmations: 1, err: null, commitment: 'confirmed' })
    const sent = { first_sent_at: '2026-08-24T12:00:00.100Z', last_valid_block_height: 1_150 }
    t.match(await status(), {
      ...bundle,
      ...sent,
      status: 'confirmed',
      state: 'confirmed',
      slot: 7,
      confirmations: 1
    })
    app.parts.chain.delete(member)
    const end = { ...submitted, state: 'failed' as const, reason: 'blockhash_expired' as const }
    await documents.update(stored!, { ...stored!.value, wires: null, end })
    app.nowMs += 1_000
    t.match(await status(), { ...bundle, status: 'unknown', state: 'expired', expired: true })
    app.nowMs += 1_000
    app.parts.fault = { kind: 'unreachable', detail: 'refused' }
    t.match(await status(), { ...bundle, state: 'expired' }, 'without the node the record stands')
    app.parts.fault = null
    const again = [transferText(1n), transferText(2n), TIP]
    app.nowMs += 1_000
    await app.call('POST', PATH, { txs: again })
    t.match(await status(), { bundle_id: idOf(again), state: 'sent', expired: false }, 'of the newest bundle')
    await app.keys.createTenant('other', NOON)
    const other = await app.as('other')
    t.match((await other('GET', `/v1/tx/${member}/status`)).body, { state: null, bundle_id: null })
  }
)

t.test('a bundle of another tenant, or of nobody, is unknown', async (t) => {
  const app = await transactionClient(t)
  await app.call('POST', PATH, { txs: [TIP] })
  await app.keys.createTenant('other', NOON)
  const other = await app.as('other')
  const { status, body } = await other('GET', `${PATH}/${idOf([TIP])}/status`)
  t.equal(status, 200)
  t.strictSame(body, {
    bundle_id: idOf([TIP]),
    status: 'unknown',
    landed_slot: null,
    signatures: [],
    confirmation_status: null,
    err: null,
    reason: null,
    tip_lamports: null,
    submitted_at: null,
    updated_at: null
  })
  t.match(await app.call('GET', `${PATH}/ff/status`), {
    status: 400,
    body: { detail: /^bundle_id must be 64 hexadecimal digits/ }
  })
})

t.test('each bad bundle is answered with its status and code, and names the member', async (t) => {
  const app = await transactionClient(t)
  const bytes = signedWire([transfer()])
  const [one, two] = [toBase64(bytes), transferText(2n)]
  const broken = Uint8Array.from(bytes)
  broken[1]! ^= 1
  type Expected = readonly [status: number, code: string, detail: RegExp]
  const invalid = (detail: RegExp): Expected => [400, 'transaction_invalid', detail]
  const parameter = (detail: RegExp): Expected => [400, 'invalid_parameter', detail]
  const tip = (detail: RegExp): Expected => [422, 'tip_missing', detail]
  const six = [1n, 2n, 3n, 4n, 5n].map((lamports) => transferText(lamports))
  const cases: [name: string, body: unknown, expected: Expected][] = [
    ['0 members', { txs: [] }, parameter(/^txs must have at least 1/)],
    ['6 members', { txs: [...six, TIP] }, parameter(/^txs must have at most 5/)],
    ['no txs', {}, parameter(/^txs must be given as array/)],
    ['a member that is a number', { txs: [one, 5] }, parameter(/^txs\.1 must be given as string/)],
    ['an unknown field', { txs: [TIP], tx: one }, parameter(/^tx is not a parameter/)],
    [
      'the same member twice',
      { txs: [one, two, one, TIP] },
      parameter(/^txs\.2 is the same transaction as txs\.0$/)
    ],
    ['a member that is not base64', { txs: [one, two, '(no)', TIP] }, invalid(/^txs\.2 is not base64/)],
    ['base64url', { txs: [Buffer.from(bytes).toString('base64url'), TIP] }, invalid(/^txs\.0 is not base64/)],
    ['0 bytes', { txs: ['', TIP] }, invalid(/^txs\.0 is empty/)],
    ['1,233 bytes', { txs: [one, toBase64(new Uint8Array(1_233).fill(1))] }, invalid(/^txs\.1 .*1233 bytes/)],
    [
      'trailing bytes',
      { txs: [toBase64(Uint8Array.from([...bytes, 0])), TIP] },
      invalid(/^txs\.0 .*bytes after/)
    ],
    [
      'a wrong signature',
      { txs: [two, toBase64(broken), TIP] },
      [422, 'transaction_invalid', /^txs\.1 has a signature/]
    ],
    ['no tip', { txs: [one, two] }, tip(/^txs\.1 has no tip/)],
    [
      'a tip of 999',
      { txs: [one, transferText(999n, TIP_ACCOUNT)] },
      tip(/^txs\.1 has a tip of 999 lamports/)
    ],
    ['a tip in another than the last', { txs: [TIP, one] }, tip(/^txs\.1 has no tip/)],
    ['a tip through a lookup table', { txs: [one, lookedUpTip()] }, tip(/^txs\.1 has no tip/)]
  ]
  for (const [name, body, [status, code, detail]] of cases) {
    const answer = await app.call('POST', PATH, body)
    t.match([answer.status, answer.body.code], [status, code], name)
    t.match(answer.body.detail, detail, name)
  }
  t.same(app.parts.begunBundles, [], 'nothing was submitted')
})

t.test('a tenant has at most 200 tracked bundles; one that it has submitted may be repeated', async (t) => {
  const app = await transactionClient(t)
  const documents = new Documents(app.storage.documents, BUNDLE)
  await app.call('POST', PATH, { txs: [TIP] })
  const { value } = app.parts.begunBundles[0]!
  for (let nth = 1; nth < 200; nth++) {
    const bundleId = bundleIdOf([`b${nth}`])
    await documents.insert({ ...value, bundleId, signatures: [`b${nth}`] })
  }
  const txs = [transferText(3n), TIP]
  t.match(await app.call('POST', PATH, { txs }), { status: 429, body: { code: 'transaction_limit_reached' } })
  t.equal((await app.call('POST', PATH, { txs: [TIP] })).status, 200)
})

t.test('tips are those of the feed, marked where they are stale', async (t) => {
  const app = await transactionClient(t)
  t.match(await app.call('GET', '/v1/tx/tips'), { status: 502, body: { code: 'upstream_error' } })
  app.parts.tips = {
    accounts: [TIP_ACCOUNT.toBase58()],
    floor: { p25: 1, p50: 2, p75: 3, p95: 4, p99: 5, emaP50: 6, atMs: NOON },
    isStale: true
  }
  t.strictSame((await app.call('GET', '/v1/tx/tips')).body, {
    tip_accounts: [TIP_ACCOUNT.toBase58()],
    floor_lamports: { p25: 1, p50: 2, p75: 3, p95: 4, p99: 5, ema_p50: 6 },
    updated_at: '2026-08-24T12:00:00.000Z',
    stale: true
  })
})

t.test('without a block engine bundles and tips say that it is not configured', async (t) => {
  const app = await transactionClient(t, { engine: null })
  for (const [method, path, body] of [
    ['POST', PATH, { txs: [TIP] }],
    ['GET', '/v1/tx/tips', undefined]
  ] as const) {
    const answer = await app.call(method, path, body)
    t.match(answer, {
      status: 501,
      body: { code: 'not_configured', detail: 'no block engine is configured' }
    })
  }
})

/** Returns a transaction with a tip account in a lookup table. */
function lookedUpTip(): string {
  const state = { deactivationSlot: 0n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0 }
  const table = new AddressLookupTableAccount({
    key: wallet(50).publicKey,
    state: { ...state, addresses: [TIP_ACCOUNT] }
  })
  return toBase64(signedWire([transfer(5_000n, TIP_ACCOUNT)], { lookups: [table] }))
}
