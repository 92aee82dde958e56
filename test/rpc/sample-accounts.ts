import { encodeBase58 } from '../../src/chain/base58.ts'
import { NATIVE_MINT } from '../../src/chain/native-mint.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/chain/token-movement.ts'

/** A program whose accounts no node parses. */
export const PLAIN_PROGRAM = encodeBase58(new Uint8Array(32).fill(201))
export { TOKEN_2022_PROGRAM, TOKEN_PROGRAM }

export interface SampleAccount {
  readonly program: string
  readonly address: Uint8Array
  readonly data: Uint8Array
}

const key = (n: number): Uint8Array => new Uint8Array(32).fill(n)
const u64 = (value: bigint): Uint8Array => new Uint8Array(BigUint64Array.of(value).buffer)
const option = (value: Uint8Array | null, size: number, tag = value === null ? 0 : 1): Uint8Array =>
  Uint8Array.of(tag, 0, 0, 0, ...(value ?? new Uint8Array(size)))

interface MintFields {
  readonly decimals: number
  readonly isInitialized?: number
  readonly authority?: Uint8Array | null
}

const mint = ({ decimals, isInitialized = 1, authority = key(9) }: MintFields): Uint8Array =>
  Buffer.concat([
    option(authority, 32),
    u64(2n ** 60n + 1n),
    Uint8Array.of(decimals, isInitialized),
    option(null, 32)
  ])

interface TokenFields {
  readonly mint: Uint8Array
  readonly amount?: bigint
  readonly delegate?: Uint8Array | null
  readonly delegated?: bigint
  readonly state?: number
  readonly native?: bigint | null
  readonly close?: Uint8Array | null
  readonly closeTag?: number
}

const token = ({
  mint,
  amount = 5n,
  delegate = null,
  delegated = 0n,
  state = 1,
  native = null,
  close = null,
  closeTag
}: TokenFields): Uint8Array =>
  Buffer.concat([
    mint,
    key(8),
    u64(amount),
    option(delegate, 32),
    Uint8Array.of(state),
    option(native === null ? null : u64(native), 8),
    u64(delegated),
    option(close, 32, closeTag)
  ])

const multisig = (isInitialized: number): Uint8Array =>
  Buffer.concat([Uint8Array.of(2, 3, isInitialized), key(5), key(6), key(7), new Uint8Array(8 * 32)])

const IMMUTABLE_OWNER = Uint8Array.of(2, 7, 0, 0, 0)

const [SIX, NONE, TWENTY] = [key(11), key(12), key(13)]
const ROWS: readonly (readonly [string, readonly Uint8Array[], number])[] = [
  [
    TOKEN_PROGRAM,
    [
      mint({ decimals: 6 }),
      mint({ decimals: 0, authority: null }),
      mint({ decimals: 20 }),
      mint({ decimals: 3, isInitialized: 0 }),
      token({ mint: SIX }),
      token({ mint: SIX, amount: 2n ** 64n - 1n, delegate: key(10), delegated: 0n }),
      token({ mint: SIX, amount: 9_007_199_254_740_993n, delegate: key(10), delegated: 7n }),
      token({ mint: NONE, state: 2, close: key(9) }),
      token({ mint: TWENTY, amount: 10n ** 19n }),
      token({ mint: NATIVE_MINT, native: 2_039_280n }),
      token({ mint: key(14) }),
      token({ mint: key(77) }),
      token({ mint: SIX, state: 0 }),
      token({ mint: SIX, state: 3 }),
      token({ mint: SIX, closeTag: 2 }),
      multisig(1),
      multisig(0),
      new Uint8Array(100)
    ],
    11
  ],
  [
    TOKEN_2022_PROGRAM,
    [
      mint({ decimals: 6 }),
      token({ mint: key(51) }),
      Buffer.concat([token({ mint: key(51) }), IMMUTABLE_OWNER]),
      Buffer.concat([token({ mint: key(51), state: 0 }), IMMUTABLE_OWNER])
    ],
    51
  ],
  [
    PLAIN_PROGRAM,
    [
      Uint8Array.of(),
      new Uint8Array(128).fill(255),
      token({ mint: SIX, state: 3 }),
      Buffer.concat([token({ mint: SIX }), IMMUTABLE_OWNER]),
      Uint8Array.of(1, 2, 3),
      multisig(1)
    ],
    101
  ]
]

/** Accounts of token programs in every form, and of another program. */
export const SAMPLE_ACCOUNTS: readonly SampleAccount[] = ROWS.flatMap(([program, all, first]) =>
  all.map((data, i) => ({ program, address: key(first + i), data: Uint8Array.from(data) }))
)

const filter = (...filters: readonly unknown[]) => ({ filters })
const PARSED = { encoding: 'jsonParsed' }
/** Requests whose answers a node has given: a program, and a configuration. */
export const SAMPLE_REQUESTS: readonly (readonly [string, object?])[] = [
  [TOKEN_PROGRAM, PARSED],
  [TOKEN_PROGRAM, { ...PARSED, dataSlice: { offset: 0, length: 3 } }],
  [
    TOKEN_PROGRAM,
    { ...PARSED, ...filter({ dataSize: 165 }, { memcmp: { offset: 0, bytes: encodeBase58(SIX) } }) }
  ],
  [TOKEN_PROGRAM, { encoding: 'base64', ...filter('tokenAccountState') }],
  [TOKEN_PROGRAM],
  [TOKEN_2022_PROGRAM, PARSED],
  [TOKEN_2022_PROGRAM, { encoding: 'base64' }],
  [PLAIN_PROGRAM, PARSED],
  [PLAIN_PROGRAM, { ...PARSED, dataSlice: { offset: 1, length: 2 } }],
  [PLAIN_PROGRAM, { encoding: 'base64', ...filter('tokenAccountState') }],
  [PLAIN_PROGRAM],
  [PLAIN_PROGRAM, { encoding: 'base58' }],
  [PLAIN_PROGRAM, { dataSlice: { offset: 2, length: 128 } }],
  [PLAIN_PROGRAM, { encoding: 'base58', dataSlice: { offset: 2, length: 128 } }],
  [PLAIN_PROGRAM, { encoding: 'binary', ...filter({ dataSize: 3 }) }],
  [
    PLAIN_PROGRAM,
    { encoding: 'base64', sortResults: true, ...filter({ memcmp: { offset: 1, bytes: [2, 3] } }) }
  ],
  [
    PLAIN_PROGRAM,
    { encoding: 'base64', ...filter({ memcmp: { offset: 1, bytes: 'AgM=', encoding: 'base64' } }) }
  ],
  [PLAIN_PROGRAM, { withContext: true, encoding: 'base64', ...filter({ dataSize: 3 }) }],
  [PLAIN_PROGRAM, { encoding: 'base64', minContextSlot: 10 ** 12 }]
]
