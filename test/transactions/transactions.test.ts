import { SystemProgram } from '@solana/web3.js'
import t from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'
import {
  SUBMISSION,
  submissionPartition,
  type Submission,
  type SubmissionProgress
} from '../../src/transactions/submission.ts'
import { Documents } from '../../storage/documents.ts'
import { sentProgress, TIP_ACCOUNT } from './fake-transactions.ts'
import { BLOCKHASH, signedWire, toBase64, transfer, wallet } from './signed.ts'
import type { Answer, MarketApp } from '../http/market-app.ts'
import { NOON, transactionClient, transferText } from './transaction-client.ts'

const UNKNOWN = encodeBase58(new Uint8Array(64).fill(7))
const LANDED = { slot: 77, confirmations: 3, err: null, commitment: 'confirmed' } as const

t.test('a transaction is stored, handed to tracking once, and shown', async (t) => {
  const app = await transactionClient(t)
  const bytes = signedWire([transfer(5n)])
  const signature = encodeBase58(bytes.subarray(1, 65))
  const sent = await app.post({ tx: toBase64(bytes) })
  t.equal(sent.status, 200)
  t.strictSame(sent.body, { signature })
  t.match(app.parts.begun, [
    {
      tenant: 'acme',
      signature,
      route: 'node',
      revertProtection: false,
      receivedAtMs: NOON,
      nonceAccount: null
    }
  ])
  const [stored] = await storedOf(app, [signature])
  t.match(stored, { blockhash: BLOCKHASH, end: null, bundleId: null })
  t.same([...stored!.wire!], [...bytes])

  const repeated = { signature, repeated: true, routes: ['node'], resumed: false }
  t.strictSame((await app.post({ tx: toBase64(bytes), skip_preflight: true })).body, repeated)
  t.strictSame((await app.post({ tx: toBase64(bytes), skip_preflight: false })).body, repeated)
  t.equal(app.parts.begun.length, 1, 'the same signature begins nothing')
  t.equal(app.parts.simulated.length, 0, 'and is not simulated')

  const status = await app.call('GET', `/v1/tx/${signature}/status`)
  t.strictSame(status.body, {
    signature,
    status: 'unknown',
    err: null,
    slot: null,
    rebroadcasts: 0,
    tracking: true,
    state: 'sent',
    route: 'node',
    routes: ['node'],
    received_at: '2026-08-24T12:00:00.000Z',
    first_sent_at: null,
    last_sent_at: null,
    landed_ms: null,
    last_valid_block_height: null,
    expired: false,
    leaders_sent: 0,
    confirmations: null,
    bundle_id: null,
    evidence: null,
    current_block_height: 1_000
  })
})

t.test('each state of a submission is shown as the specification names it', async (t) => {
  const app = await transactionClient(t)
  const signature = await app.submit(1n)
  const landed = { slot: 50, index: 3, confirmations: 0, landedAtMs: NOON + 450.4 }
  const err = { InstructionError: [0, { Custom: 1 }] }
  const cases: [Partial<SubmissionProgress>, Record<string, unknown>][] = [
    [{ rebroadcasts: 2 }, { status: 'unknown', tracking: true, expired: false, rebroadcasts: 2, slot: null }],
    [
      { ...landed, state: 'processed', commitment: 'processed' },
      { status: 'processed', tracking: true, slot: 50, landed_ms: 450, confirmations: 0 }
    ],
    [
      { ...landed, state: 'processed', commitment: 'processed', err },
      { status: 'processed', tracking: false, err }
    ],
    [
      { ...landed, state: 'confirmed', commitment: 'confirmed' },
      { status: 'confirmed', tracking: false }
    ],
    [
      { ...landed, state: 'finalized', commitment: 'finalized', confirmations: null },
      { status: 'finalized', tracking: false, confirmations: null }
    ],
    [
      { ...landed, state: 'failed', commitment: 'finalized', err },
      { status: 'finalized', tracking: false, err, state: 'failed', expired: false }
    ],
    [{ state: 'expired' }, { status: 'unknown', tracking: false, expired: true, slot: null, err: null }]
  ]
  for (const [changed, expected] of cases) {
    app.parts.tracked.set(signature, sentProgress(NOON, { leadersSent: 4, ...changed }))
    const { body } = await app.call('GET', `/v1/tx/${signature}/status`)
    t.match(body, {
      ...expected,
      first_sent_at: '2026-08-24T12:00:00.000Z',
      last_valid_block_height: 1_150,
      leaders_sent: 4
    })
  }
  t.same(app.parts.asked, [], 'the node is not asked for what this process tracks')
})

t.test(
  'a transaction with a durable nonce is tracked for 60 seconds, and sent after them no more',
  async (t) => {
    const app = await transactionClient(t)
    const advance = SystemProgram.nonceAdvance({
      noncePubkey: wallet(20).publicKey,
      authorizedPubkey: wallet(1).publicKey
    })
    const { body } = await app.post({ tx: toBase64(signedWire([advance, transfer()])) })
    const signature = String(body.signature)
    t.match(app.parts.begun, [{ nonceAccount: wallet(20).publicKey.toBase58() }])
    app.parts.tracked.set(signature, sentProgress(NOON, { lastValidBlockHeight: null }))
    for (const [afterMs, tracking] of [
      [59_999, true],
      [60_000, false]
    ] as const) {
      app.nowMs = NOON + afterMs
      const shown = await app.call('GET', `/v1/tx/${signature}/status`)
      t.match(shown.body, { status: 'unknown', tracking, expired: false, last_valid_block_height: null })
    }
  }
)

t.test('a repeat adds its route, and a route that is in use changes nothing', async (t) => {
  const app = await transactionClient(t)
  const tx = transferText(1_000n, TIP_ACCOUNT)
  const { body: first } = await app.post({ tx, via: 'jito', revert_protection: true })
  t.strictSame(Object.keys(first), ['signature'])
  const plain = await app.post({ tx })
  t.strictSame(plain.body, { ...first, repeated: true, routes: ['jito', 'node'], resumed: false })
  t.match(app.parts.begun[1], { route: 'jito', routes: ['jito', 'node'], revertProtection: true })
  for (const body of [{ tx }, { tx, via: 'jito' }]) t.strictSame((await app.post(body)).body, plain.body)
  t.equal(app.parts.begun.length, 2, 'tracking hears of the change alone')
  const [stored] = await storedOf(app, [String(first.signature)])
  t.match(stored, { revertProtection: true, routes: ['jito', 'node'], end: null })
  const status = await app.call('GET', `/v1/tx/${String(first.signature)}/status`)
  t.match(status.body, { route: 'jito', routes: ['jito', 'node'] })
  t.match(
    (await app.post({ tx: transferText(5n) })).body.repeated,
    undefined,
    'another signature is no repeat'
  )
  const untipped = await app.submit(6n)
  t.match((await app.post({ tx: transferText(6n), via: 'jito' })).body, { code: 'tip_missing' })
  t.match((await storedOf(app, [untipped]))[0]?.routes, undefined)
})

t.test('a repeat restarts the sends of a durable nonce once they have stopped, and no earlier', async (t) => {
  const app = await transactionClient(t)
  const advance = SystemProgram.nonceAdvance({
    noncePubkey: wallet(20).publicKey,
    authorizedPubkey: wallet(1).publicKey
  })
  const tx = toBase64(signedWire([advance, transfer()]))
  const signature = String((await app.post({ tx })).body.signature)
  app.parts.tracked.set(signature, sentProgress(NOON, { lastValidBlockHeight: null }))
  const answers: unknown[] = []
  for (const afterMs of [59_999, 60_000, 60_001, 119_999, 120_000]) {
    app.nowMs = NOON + afterMs
    answers.push((await app.post({ tx })).body.resumed)
    t.match((await app.call('GET', `/v1/tx/${signature}/status`)).body, { tracking: true })
  }
  t.same(answers, [false, true, false, false, true])
  t.match(
    app.parts.begun.map(({ resumedAtMs }) => resumedAtMs),
    [undefined, NOON + 60_000, NOON + 120_000]
  )
  const landed = { slot: 9, commitment: 'confirmed', state: 'confirmed' } as const
  app.parts.tracked.set(signature, sentProgress(NOON, landed))
  app.nowMs += 600_000
  t.match((await app.post({ tx })).body, { repeated: true, resumed: false }, 'it has landed')
})

t.test(
  'a repeat of an ended submission answers with its status, and opens none that cannot land',
  async (t) => {
    const app = await transactionClient(t)
    const ends: [Partial<SubmissionProgress>, object][] = [
      [
        { state: 'finalized', slot: 9, commitment: 'finalized' },
        { status: 'finalized', state: 'finalized', slot: 9, expired: false }
      ],
      [
        { state: 'failed', slot: 9, commitment: 'finalized', err: 'AccountInUse' },
        { status: 'finalized', state: 'failed', err: 'AccountInUse' }
      ],
      [{ state: 'expired' }, { status: 'unknown', state: 'expired', expired: true, slot: null, err: null }],
      [{ state: 'sent' }, { status: 'unknown', state: 'sent', expired: false }]
    ]
    for (const [at, [changed, expected]] of ends.entries()) {
      const signature = await app.submit(BigInt(at + 1))
      await end(app, signature, changed)
      const { body } = await app.post({ tx: transferText(BigInt(at + 1)) })
      t.match(body, { signature, repeated: true, routes: ['node'], resumed: false, ...expected })
    }
    t.equal(app.parts.begun.length, ends.length)
    const advance = SystemProgram.nonceAdvance({
      noncePubkey: wallet(20).publicKey,
      authorizedPubkey: wallet(1).publicKey
    })
    const tx = toBase64(signedWire([advance, transfer()]))
    const signature = String((await app.post({ tx })).body.signature)
    await end(app, signature, { state: 'sent' })
    app.parts.count = { process: 0, tenant: 2_000 }
    t.match(await app.post({ tx }), { status: 429 }, 'it takes a place')
    app.parts.count = { process: 0, tenant: 0 }
    t.strictSame((await app.post({ tx })).body, {
      signature,
      repeated: true,
      routes: ['node'],
      resumed: true
    })
    const [stored] = await storedOf(app, [signature])
    t.match(stored, { end: null, resumedAtMs: NOON })
    t.equal(toBase64(stored!.wire!), tx)
  }
)

t.test('the height at the reception is stored, without waiting for a node', async (t) => {
  const app = await transactionClient(t)
  const first = await app.submit(1n)
  await new Promise(setImmediate)
  const second = await app.submit(2n)
  app.nowMs += 3_000
  app.parts.height = null
  const third = await app.submit(3n)
  const stored = await storedOf(app, [first, second, third])
  t.same(
    stored.map((each) => [each?.receivedSlot, each?.receivedHeight]),
    [
      [undefined, undefined],
      [1, 1_000],
      [undefined, undefined]
    ]
  )
})

t.test('an ended submission is answered from its record, and the list is by state', async (t) => {
  const app = await transactionClient(t)
  const signatures: string[] = []
  for (const lamports of [1n, 2n, 3n, 4n, 5n, 6n]) {
    app.nowMs = NOON + Number(lamports)
    signatures.push(await app.submit(lamports))
  }
  const [sent, processed, finalized, failed, expired, left] = signatures as [
    string,
    string,
    string,
    string,
    string,
    string
  ]
  app.parts.tracked.set(
    processed,
    sentProgress(NOON, { state: 'processed', slot: 9, commitment: 'processed' })
  )
  await end(app, finalized, { state: 'finalized', slot: 9, commitment: 'finalized' })
  await end(app, failed, { state: 'failed', slot: 9, commitment: 'finalized', err: 'AccountInUse' })
  await end(app, expired, { state: 'expired' })
  await end(app, left, { state: 'sent' })
  const list = async (query = ''): Promise<unknown[]> => {
    const { body, status } = await app.call('GET', `/v1/tx${query}`)
    t.equal(status, 200)
    t.equal(body.tenant, 'acme')
    return body.data.map((row) => row.signature)
  }
  t.same(await list(), signatures.toReversed())
  t.same(await list('?status=sent'), [left, sent], 'one that is not followed any more too')
  t.same(await list('?status=processed'), [processed])
  t.same(await list('?status=finalized'), [finalized])
  t.same(await list('?status=failed'), [failed])
  t.same(await list('?status=expired'), [expired])
  t.same(await list('?status=confirmed'), [])
  app.parts.chain.set(left, { slot: 8, confirmations: null, err: null, commitment: 'finalized' })
  t.match((await app.call('GET', `/v1/tx/${left}/status`)).body, {
    status: 'finalized',
    slot: 8,
    tracking: false
  })
  app.nowMs += 1_000
  app.parts.fault = { kind: 'unreachable', detail: 'refused' }
  t.match((await app.call('GET', `/v1/tx/${left}/status`)).body, {
    status: 'unknown',
    tracking: false,
    expired: false
  })
  t.match((await app.call('GET', `/v1/tx/${finalized}/status`)).body, { status: 'finalized', slot: 9 })
  t.match((await app.call('GET', `/v1/tx/${expired}/status`)).body, { status: 'unknown', expired: true })
})

t.test('pages of the list hold each submission once, whatever their size', async (t) => {
  const app = await transactionClient(t)
  const all: string[] = []
  for (let number = 1; number <= 13; number++) {
    // Several are of one millisecond.
    app.nowMs = NOON + Math.floor(number / 4)
    all.push(await app.submit(BigInt(number)))
  }
  for (const limit of [1, 5, 13]) {
    const seen: unknown[] = []
    let after: string | null = null
    do {
      const { body }: Answer = await app.call('GET', `/v1/tx?limit=${limit}${after ? `&after=${after}` : ''}`)
      t.ok(body.data.length <= limit && body.data.length > 0)
      seen.push(...body.data.map((row) => row.signature))
      after = body.nextCursor
    } while (after !== null)
    t.equal(seen.length, all.length, `pages of ${limit}`)
    t.same(seen.toSorted(), all.toSorted())
    if (limit === 13) t.equal(seen.at(-1), [...all.slice(0, 3)].sort()[0])
  }
  const { body } = await app.call('GET', '/v1/tx?limit=1')
  for (const wrong of [`${body.nextCursor}x`, 'AAAA', ''])
    t.match((await app.call('GET', `/v1/tx?after=${wrong}`)).body, { code: 'invalid_cursor' })
  const other = await app.call('GET', `/v1/tx?status=sent&after=${body.nextCursor}`)
  t.match(other.body, { code: 'invalid_cursor' }, 'a cursor of another list')
})

t.test(
  'an expired record that the chain contradicts, or one of another process, is answered from the node',
  async (t) => {
    const app = await transactionClient(t)
    const [expired, elsewhere] = [await app.submit(1n), await app.submit(2n)]
    await end(app, expired, { state: 'expired' })
    for (const signature of [expired, elsewhere]) {
      app.parts.chain.set(signature, LANDED)
      t.match((await app.call('GET', `/v1/tx/${signature}/status`)).body, {
        status: 'confirmed',
        state: 'confirmed',
        slot: 77,
        expired: false,
        tracking: false,
        confirmations: 3
      })
    }
  }
)

t.test('a status says what states the landing, and no slot that is impossible', async (t) => {
  const app = await transactionClient(t)
  app.parts.contextSlot = 20_000
  const finalized = { slot: 19_000, confirmations: null, err: null, commitment: 'finalized' } as const
  const statusOf = async (signature: string) => {
    app.nowMs += 1_000
    return app.call('GET', `/v1/tx/${signature}/status`)
  }
  app.parts.chain.set(UNKNOWN, finalized)
  t.match((await statusOf(UNKNOWN)).body, { status: 'finalized', evidence: 'claim' })
  app.parts.chain.set(UNKNOWN, { ...finalized, nodes: 2 })
  t.match((await statusOf(UNKNOWN)).body, { status: 'finalized', evidence: 'nodes' })
  app.parts.chain.set(UNKNOWN, { ...finalized, slot: 20_001 })
  t.match(await statusOf(UNKNOWN), { status: 502, body: { code: 'upstream_error' } })

  Object.assign(app.parts.sightings, { newest: { slot: 19_900, height: 18_000 } })
  const own = await app.submit(1n)
  app.parts.chain.set(own, { ...finalized, slot: 5 })
  t.match((await statusOf(own)).body, { status: 'unknown', state: 'sent', slot: null, evidence: null })
  app.parts.isBlockhashValid = false
  t.match((await statusOf(own)).body, { status: 'finalized', slot: 5 }, 'it had expired before its reception')
  app.parts.isBlockhashValid = true
  app.parts.chain.set(own, { ...finalized, slot: 19_800 })
  t.match(
    (await statusOf(own)).body,
    { status: 'finalized', state: 'finalized', evidence: 'claim' },
    'before its reception'
  )
  await end(app, own, { state: 'finalized', slot: 19_800, commitment: 'finalized', evidence: 'block' })
  t.match((await statusOf(own)).body, { status: 'finalized', evidence: 'block' })
})

t.test('a signature of nobody, or of another tenant, is answered by the chain alone', async (t) => {
  const app = await transactionClient(t)
  await app.keys.createTenant('other', NOON)
  const other = await app.as('other')
  const mine = await app.submit(1n)
  app.parts.tracked.set(mine, sentProgress(NOON, { rebroadcasts: 9 }))
  const foreign = (signature: string) => ({
    signature,
    status: 'unknown',
    err: null,
    slot: null,
    rebroadcasts: 0,
    tracking: false,
    state: null,
    route: null,
    routes: [],
    received_at: null,
    first_sent_at: null,
    last_sent_at: null,
    landed_ms: null,
    last_valid_block_height: null,
    expired: false,
    leaders_sent: 0,
    confirmations: null,
    bundle_id: null,
    evidence: null,
    current_block_height: 1_000
  })
  for (const signature of [UNKNOWN, mine])
    t.strictSame((await other('GET', `/v1/tx/${signature}/status`)).body, foreign(signature))
  t.same((await other('GET', '/v1/tx')).body.data, [])
  app.nowMs += 1_000
  app.parts.chain.set(mine, { ...LANDED, err: 'AccountInUse', commitment: 'processed' })
  t.strictSame((await other('GET', `/v1/tx/${mine}/status`)).body, {
    ...foreign(mine),
    status: 'processed',
    slot: 77,
    err: 'AccountInUse',
    confirmations: 3,
    evidence: 'claim'
  })

  // An equal signature of a second tenant has its own record.
  t.equal((await other('POST', '/v1/tx/send', { tx: transferText(1n) })).status, 200)
  t.same(
    app.parts.begun.map(({ tenant, signature }) => [tenant, signature]),
    [
      ['acme', mine],
      ['other', mine]
    ]
  )
  t.equal((await other('GET', '/v1/tx')).body.data.length, 1)
})

t.test('equal questions are asked once and kept for a moment, others go together', async (t) => {
  const app = await transactionClient(t)
  const signatures = [1, 2, 3].map((value) => encodeBase58(new Uint8Array(64).fill(value)))
  const ask = (signature: string) => app.call('GET', `/v1/tx/${signature}/status`)
  await Promise.all([...signatures, ...signatures].map(ask))
  await ask(signatures[0]!)
  t.same(app.parts.asked.flat().toSorted(), signatures.toSorted())
  app.nowMs += 400
  await ask(signatures[0]!)
  t.equal(app.parts.asked.flat().length, 4)
})

t.test('a node that does not answer is 502 or 504, and the height alone is left out', async (t) => {
  const app = await transactionClient(t)
  const path = `/v1/tx/${UNKNOWN}/status`
  app.parts.fault = { kind: 'unreachable', detail: 'connect ECONNREFUSED 10.1.2.3:8899' }
  const gone = await app.call('GET', path)
  t.match(gone, { status: 502, body: { code: 'upstream_error' } })
  t.equal(gone.headers['retry-after'], '1')
  t.notMatch(gone.text, /10\.1\.2\.3/)
  app.parts.fault = { kind: 'timeout', afterMs: 5_000 }
  t.match(await app.call('GET', path), { status: 504, body: { code: 'upstream_timeout' } })
  t.match(await app.post({ tx: transferText(1n), skip_preflight: false }), {
    status: 504,
    body: { code: 'upstream_timeout' }
  })
  t.same(app.parts.begun, [])
  t.equal((await app.post({ tx: transferText(1n) })).status, 200, 'without preflight the node is not needed')
  app.parts.fault = null
  app.parts.height = null
  app.nowMs += 1_000
  t.match((await app.call('GET', path)).body, { status: 'unknown', current_block_height: null })
})

t.test('preflight refuses a transaction whose simulation fails', async (t) => {
  const app = await transactionClient(t)
  const tx = transferText(1n)
  app.parts.simulation = {
    err: { InstructionError: [0, { Custom: 1 }] },
    logs: ['Program 11111111111111111111111111111111 invoke [1]'],
    unitsConsumed: 150
  }
  t.match(await app.post({ tx, skip_preflight: false }), {
    status: 422,
    body: {
      code: 'preflight_failed',
      err: { InstructionError: [0, { Custom: 1 }] },
      logs: ['Program 11111111111111111111111111111111 invoke [1]'],
      units_consumed: 150
    }
  })
  t.same(app.parts.begun, [])
  app.parts.simulation = { err: 'BlockhashNotFound', logs: [], unitsConsumed: null }
  t.match((await app.post({ tx, skip_preflight: false })).body, {
    err: 'BlockhashNotFound',
    units_consumed: null
  })
  t.equal((await app.post({ tx })).status, 200)
  t.equal(app.parts.begun.length, 1)
})

t.test('the block-engine route needs an engine and a tip', async (t) => {
  const app = await transactionClient(t)
  const tipped = transferText(1_000n, TIP_ACCOUNT)
  t.equal((await app.post({ tx: tipped, via: 'jito', revert_protection: true })).status, 200)
  t.match(app.parts.begun, [{ route: 'jito', revertProtection: true }])
  for (const tx of [transferText(5_000n), transferText(999n, TIP_ACCOUNT)]) {
    const { status, body } = await app.post({ tx, via: 'jito' })
    t.match([status, body.code], [422, 'tip_missing'])
    t.match(body.detail, /^tx has /)
  }
  Object.assign(app.parts, { engine: null })
  t.match(await app.post({ tx: transferText(2_000n, TIP_ACCOUNT), via: 'jito' }), {
    status: 501,
    body: { code: 'not_configured' }
  })
  t.equal(app.parts.begun.length, 1)
})

t.test('at its limits a tenant is answered 429, but not for what it has submitted', async (t) => {
  const app = await transactionClient(t)
  await app.submit(1n)
  for (const count of [
    { process: 0, tenant: 2_000 },
    { process: 10_000, tenant: 1 }
  ]) {
    app.parts.count = count
    const refused = await app.post({ tx: transferText(2n) })
    t.match(refused, { status: 429, body: { code: 'transaction_limit_reached' } })
    t.equal(refused.headers['retry-after'], '1')
    t.equal((await app.post({ tx: transferText(1n) })).status, 200)
  }
  app.parts.count = { process: 9_999, tenant: 1_999 }
  t.equal((await app.post({ tx: transferText(2n) })).status, 200)
  t.equal(app.parts.begun.length, 2)
})

t.test('an idempotency key gives the same signature back, and refuses another body', async (t) => {
  const app = await transactionClient(t)
  const headers = { 'idempotency-key': 'once' }
  const first = await app.post({ tx: transferText(1n), skip_preflight: false }, headers)
  t.equal(first.status, 200)
  app.parts.simulation = { err: 'AlreadyProcessed', logs: [], unitsConsumed: 0 }
  t.strictSame((await app.post({ tx: transferText(1n), skip_preflight: false }, headers)).body, first.body)
  t.match(await app.post({ tx: transferText(2n) }, headers), {
    status: 422,
    body: { code: 'idempotency_key_reused' }
  })
  t.equal(app.parts.begun.length, 1)
})

t.test('a key without the scope is refused on each route', async (t) => {
  const app = await transactionClient(t)
  const key = await app.makeKey(['data:read', 'webhooks'])
  for (const [method, path] of [
    ['POST', '/v1/tx/send'],
    ['GET', '/v1/tx'],
    ['GET', `/v1/tx/${UNKNOWN}/status`]
  ] as const) {
    const body = method === 'POST' ? JSON.stringify({ tx: transferText(1n) }) : undefined
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    t.match(await app.ask(method, path, headers, body), { status: 403, body: { code: 'insufficient_scope' } })
  }
})

const documentsOf = ({ storage }: MarketApp) => new Documents(storage.documents, SUBMISSION)

async function storedOf(app: MarketApp, signatures: readonly string[]): Promise<(Submission | undefined)[]> {
  const found = await Promise.all(
    signatures.map((each) => documentsOf(app).get(submissionPartition('acme', each), ['acme', each]))
  )
  return found.map((each) => each?.value)
}

/** Ends a submission of `acme`, as its owner does. */
async function end(app: MarketApp, signature: string, changed: Partial<SubmissionProgress>): Promise<void> {
  const documents = documentsOf(app)
  const stored = await documents.get(submissionPartition('acme', signature), ['acme', signature])
  await documents.update(stored!, { ...stored!.value, wire: null, end: sentProgress(NOON, changed) })
}

t.test('a submission, a bundle and its members are kept for the retention', async (t) => {
  const app = await transactionClient(t, { retentionMs: 86_400_000 })
  const signature = await app.submit(1n)
  await app.call('POST', '/v1/tx/bundle', { txs: [transferText(2n), transferText(1_000n, TIP_ACCOUNT)] })
  const { partition, key } = SUBMISSION
  const address = { tenant: 'acme', signature } as Submission
  const submission = await new Documents(app.storage.documents, SUBMISSION).get(
    partition(address),
    key(address)
  )
  for (const { header } of [submission!, app.parts.begunBundles[0]!]) t.ok(header.expiresAtMs)
})
