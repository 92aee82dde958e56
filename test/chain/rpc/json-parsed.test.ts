import t from 'tap'
import { encodeParsed } from '../../../src/chain/rpc/json-parsed.ts'
import { Unreadable } from '../../../src/chain/rpc/fields.ts'
import { encodeBase58 } from '../../../src/chain/base58.ts'

const key = (fill: number): string => encodeBase58(new Uint8Array(32).fill(fill))
const [A, B, C, D, E] = [1, 2, 3, 4, 5].map(key) as [string, string, string, string, string]
const hexKey = (fill: number): string => fill.toString(16).padStart(2, '0').repeat(32)

const CASES: [program: string, type: string, info: object, accounts: string[], data: string][] = [
  [
    'spl-token',
    'transfer',
    { source: A, destination: B, authority: C, amount: '258' },
    [A, B, C],
    '030201000000000000'
  ],
  [
    'spl-token',
    'transfer',
    { source: A, destination: B, multisigAuthority: C, signers: [D, E], amount: '1' },
    [A, B, C, D, E],
    '030100000000000000'
  ],
  [
    'spl-token',
    'transferChecked',
    {
      source: A,
      mint: D,
      destination: B,
      authority: C,
      tokenAmount: { amount: '18446744073709551615', decimals: 6 }
    },
    [A, D, B, C],
    '0cffffffffffffffff06'
  ],
  [
    'spl-token',
    'transferCheckedWithFee',
    {
      source: A,
      mint: D,
      destination: B,
      authority: C,
      tokenAmount: { amount: '1', decimals: 6 },
      feeAmount: { amount: '2', decimals: 6 }
    },
    [A, D, B, C],
    '1a010100000000000000060200000000000000'
  ],
  [
    'spl-token',
    'mintToChecked',
    { mint: A, account: B, mintAuthority: C, tokenAmount: { amount: '1', decimals: 9 } },
    [A, B, C],
    '0e010000000000000009'
  ],
  [
    'spl-token',
    'burnChecked',
    { account: B, mint: A, authority: C, tokenAmount: { amount: '1', decimals: 9 } },
    [B, A, C],
    '0f010000000000000009'
  ],
  [
    'spl-token',
    'withdrawExcessLamports',
    { source: A, destination: B, multisigAuthority: C, signers: [D] },
    [A, B, C, D],
    '26'
  ],
  ['spl-token', 'unwrapLamports', { source: A, destination: B, authority: C }, [A, B, C], '2d00'],
  [
    'spl-token',
    'unwrapLamports',
    { source: A, destination: B, authority: C, amount: '3' },
    [A, B, C],
    '2d010300000000000000'
  ],
  [
    'spl-token',
    'setAuthority',
    { mint: A, authority: B, authorityType: 'mintTokens', newAuthority: null },
    [A, B],
    '060000'
  ],
  ['system', 'transfer', { source: A, destination: B, lamports: 5 }, [A, B], '020000000500000000000000'],
  [
    'system',
    'transferWithSeed',
    { source: A, sourceBase: B, destination: C, lamports: 5, sourceSeed: 'é', sourceOwner: D },
    [A, B, C],
    `0b0000000500000000000000` + `0200000000000000c3a9` + hexKey(4)
  ],
  [
    'system',
    'createAccountWithSeed',
    { source: A, newAccount: B, base: A, seed: 'x', lamports: 1, space: 165, owner: C },
    [A, B],
    `03000000${hexKey(1)}010000000000000078` + `0100000000000000a500000000000000${hexKey(3)}`
  ],
  [
    'spl-associated-token-account',
    'createIdempotent',
    { source: A, account: B, wallet: C, mint: D, systemProgram: E, tokenProgram: A },
    [A, B, C, D, E, A],
    '01'
  ]
]

t.test('a parsed instruction becomes the bytes and accounts that its program takes', (t) => {
  for (const [program, type, info, accounts, data] of CASES) {
    const encoded = encodeParsed(program, { type, info })
    t.same(
      { accounts: encoded.accounts, data: encoded.data.toHex() },
      { accounts, data },
      `${program} ${type}`
    )
  }
  t.equal(encodeParsed('spl-memo', 'é').data.toHex(), 'c3a9')
  t.end()
})

t.test('an instruction that is not known is empty', (t) => {
  for (const [program, parsed] of [
    ['stake', { type: 'split', info: { lamports: 1 } }],
    ['spl-token', { type: 'confidentialTransfer', info: {} }],
    ['spl-token', 'text'],
    ['constructor', { type: 'constructor' }],
    ['vote', null]
  ] as const) {
    const { accounts, data } = encodeParsed(program, parsed)
    t.same([accounts.length, data.length], [0, 0])
  }
  t.end()
})

t.test(
  'a known instruction that lacks a field, or has a wrong one, is refused by the name of the field',
  (t) => {
    const transfer = { source: A, destination: B, authority: C, amount: '1' }
    for (const [field, value] of [
      ['source', 'short'],
      ['authority', undefined],
      ['amount', '1.5'],
      ['amount', -1],
      ['amount', '1'.repeat(30)]
    ] as const) {
      const info = { ...transfer, [field]: value }
      t.throws(
        () => encodeParsed('spl-token', { type: 'transfer', info }),
        new Unreadable(`parsed.info.${field}`)
      )
    }
    t.end()
  }
)
