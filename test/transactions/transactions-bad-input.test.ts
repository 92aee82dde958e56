import { AddressLookupTableAccount } from '@solana/web3.js'
import t from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { TIP_ACCOUNT } from './fake-transactions.ts'
import { signedWire, toBase64, transfer, wallet } from './signed.ts'
import { transactionClient, transferText } from './transaction-client.ts'

type Expected = readonly [status: number, code: string, detail: RegExp]

t.test('each bad submission is answered with its status and code, and names the field', async (t) => {
  const app = await transactionClient(t)
  const bytes = signedWire([transfer()])
  const text = toBase64(bytes)
  const changed = (change: (copy: Uint8Array) => void): string => {
    const copy = Uint8Array.from(bytes)
    change(copy)
    return toBase64(copy)
  }
  const invalid = (detail: RegExp): Expected => [400, 'transaction_invalid', detail]
  const unsigned = (detail: RegExp): Expected => [422, 'transaction_invalid', detail]
  const parameter = (detail: RegExp): Expected => [400, 'invalid_parameter', detail]
  const cases: [name: string, body: unknown, expected: Expected][] = [
    ['not base64', { tx: '(not base64)' }, invalid(/^tx is not base64/)],
    ['base64url', { tx: Buffer.from(bytes).toString('base64url') }, invalid(/^tx is not base64/)],
    ['0 bytes', { tx: '' }, invalid(/^tx is empty/)],
    ['1,233 bytes', { tx: toBase64(new Uint8Array(1_233).fill(1)) }, invalid(/^tx .*1233 bytes \(max: 1232/)],
    ['trailing bytes', { tx: toBase64(Uint8Array.from([...bytes, 0])) }, invalid(/^tx .*bytes after/)],
    ['a cut transaction', { tx: toBase64(bytes.subarray(0, -1)) }, invalid(/^tx .*end early/)],
    ['an unknown version', { tx: changed((copy) => (copy[65] = 0x85)) }, invalid(/^tx .*message version 5/)],
    [
      'a wrong signature',
      { tx: changed((copy) => (copy[1]! ^= 1)) },
      unsigned(/^tx has a signature of \w+ that/)
    ],
    ['no signature', { tx: changed((copy) => copy.fill(0, 1, 65)) }, unsigned(/^tx is not signed by \w+$/)],
    [
      'too few signatures',
      { tx: toBase64(Uint8Array.from([0, ...bytes.subarray(65)])) },
      unsigned(/^tx has fewer signatures/)
    ],
    ['via unknown', { tx: text, via: 'harmonic' }, parameter(/^via must be one of jito$/)],
    [
      'revert_protection without via',
      { tx: text, revert_protection: true },
      parameter(/^revert_protection /)
    ],
    ['no tip', { tx: text, via: 'jito' }, [422, 'tip_missing', /^tx has no tip/]],
    [
      'a tip of 999 lamports',
      { tx: transferText(999n, TIP_ACCOUNT), via: 'jito' },
      [422, 'tip_missing', /^tx has a tip of 999 lamports/]
    ],
    [
      'a tip through a lookup table',
      { tx: lookedUpTip(), via: 'jito' },
      [422, 'tip_missing', /^tx has no tip/]
    ],
    ['no tx', {}, parameter(/^tx must be given as string/)],
    ['a tx that is a number', { tx: 5 }, parameter(/^tx must be given as string/)],
    ['an unknown field', { tx: text, skipPreflight: true }, parameter(/^skipPreflight is not a parameter/)],
    [
      'a preflight in words',
      { tx: text, skip_preflight: 'no' },
      parameter(/^skip_preflight must be given as/)
    ],
    ['no object', [text], parameter(/^body /)]
  ]
  for (const [name, body, [status, code, detail]] of cases) {
    const answer = await app.post(body)
    t.match([answer.status, answer.body.code], [status, code], name)
    t.match(answer.body.detail, detail, name)
  }
  t.same(app.parts.begun, [], 'nothing was sent')
  t.same(app.parts.simulated, [])
  t.same((await app.call('GET', '/v1/tx')).body.data, [], 'nor stored')
})

t.test(
  'a failing simulation and a foreign blockhash are refused with preflight, and taken without',
  async (t) => {
    const app = await transactionClient(t)
    for (const [lamports, err] of [
      [1n, { InstructionError: [0, { Custom: 1 }] }],
      [2n, 'BlockhashNotFound']
    ] as const) {
      app.parts.simulation = { err, logs: ['a log line'], unitsConsumed: 1 }
      const refused = await app.post({ tx: transferText(lamports), skip_preflight: false })
      t.match([refused.status, refused.body], [422, { code: 'preflight_failed', err, logs: ['a log line'] }])
      t.match(refused.body.detail, /of tx failed/)
      t.equal((await app.post({ tx: transferText(lamports) })).status, 200)
    }
  }
)

t.test('a malformed signature, state, limit or cursor is refused', async (t) => {
  const app = await transactionClient(t)
  const short = encodeBase58(new Uint8Array(63).fill(1))
  for (const [path, code, detail] of [
    ['/v1/tx/abc/status', 'invalid_parameter', /^signature must be a base58 signature of 64 bytes/],
    [`/v1/tx/${short}/status`, 'invalid_parameter', /^signature /],
    [`/v1/tx/${'1'.repeat(500)}/status`, 'invalid_parameter', /^signature /],
    [`/v1/tx/${'0'.repeat(88)}/status`, 'invalid_parameter', /^signature /],
    ['/v1/tx?status=landed', 'invalid_parameter', /^status must be one of sent, processed/],
    ['/v1/tx?limit=0', 'invalid_parameter', /^limit must be a whole number between 1 and 1000/],
    ['/v1/tx?limit=1001', 'invalid_parameter', /^limit /],
    ['/v1/tx?after=abc', 'invalid_cursor', /^after /],
    ['/v1/tx?page=2', 'invalid_parameter', /^page is not a parameter/]
  ] as const) {
    const { status, body } = await app.call('GET', path)
    t.match([status, body.code], [400, code], path)
    t.match(body.detail, detail, path)
  }
  t.same(app.parts.asked, [])
})

/** Returns a transfer to a tip account that a lookup table holds. */
function lookedUpTip(): string {
  const table = new AddressLookupTableAccount({
    key: wallet(50).publicKey,
    state: {
      deactivationSlot: 0n,
      lastExtendedSlot: 0,
      lastExtendedSlotStartIndex: 0,
      addresses: [TIP_ACCOUNT]
    }
  })
  return toBase64(signedWire([transfer(5_000n, TIP_ACCOUNT)], { lookups: [table] }))
}
