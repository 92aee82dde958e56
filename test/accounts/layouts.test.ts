import fc from 'fast-check'
import t from 'tap'
import { readMetaplex, METAPLEX_PROGRAM } from '../../src/accounts/metaplex.ts'
import { readMintAccount } from '../../src/accounts/mint-account.ts'
import { readTokenAccount } from '../../src/accounts/token-account.ts'
import { TOKEN_PROGRAM_KEYS } from '../../src/accounts/token-program.ts'
import { withheldOf } from '../../src/chain/transfer-fee.ts'
import type { Pubkey } from '../../src/chain/pubkey.ts'
import { randomRuns } from '../random-runs.ts'
import { extended, key, metaplexData, mintData, tokenAccountData } from './account-data.ts'

const CLASSIC = TOKEN_PROGRAM_KEYS['spl-token']
const NEW = TOKEN_PROGRAM_KEYS['token-2022']
const mint = (data: Uint8Array, owner: Pubkey = NEW) => readMintAccount({ owner, data })
const account = (data: Uint8Array, owner: Pubkey = NEW) => readTokenAccount({ owner, data })
const change = (data: Uint8Array, at: number, ...bytes: number[]): Uint8Array => {
  const copy = data.slice()
  copy.set(bytes, at)
  return copy
}

t.test('a mint has its authorities, and null for revoked ones', async (t) => {
  const data = mintData({ supply: 2n ** 64n - 1n, decimals: 9, mintAuthority: key(1) })
  t.match(mint(data, CLASSIC), {
    kind: 'mint',
    tokenProgram: 'spl-token',
    supply: 2n ** 64n - 1n,
    decimals: 9,
    mintAuthority: key(1),
    freezeAuthority: null,
    extensions: []
  })
})

const BASE = mintData({ supply: 5n, decimals: 6 })
const HOOK: [number, Uint8Array] = [14, new Uint8Array(64)]
t.test('an account that is no mint is refused, with the reason', async (t) => {
  const cases: readonly [name: string, outcome: unknown, reason: RegExp][] = [
    ['of another program', mint(BASE, key(9)), /owned by another program/],
    ['too short', mint(BASE.subarray(0, 81)), /not a mint/],
    ['a classic mint with more bytes', mint(extended(BASE, 'mint', [HOOK]), CLASSIC), /not a mint/],
    ['a token account', mint(tokenAccountData({ mint: key(1), owner: key(2), amount: 1n })), /165 bytes/],
    ['not initialized', mint(change(BASE, 45, 0)), /not an initialized mint/],
    ['a tag of the authority', mint(change(BASE, 0, 2)), /tag 2 at byte 0/],
    ['a tag of the freeze authority', mint(change(BASE, 46, 7)), /tag 7 at byte 46/],
    ['as long as a multisig', mint(extended(BASE, 'mint', [[14, new Uint8Array(185)]])), /355 bytes/],
    ['of the kind of token accounts', mint(extended(BASE, 'account', [])), /kind 2, not 1/],
    ['bytes before the kind', mint(change(extended(BASE, 'mint', []), 100, 1)), /between/],
    ['an extension of accounts', mint(extended(BASE, 'mint', [[7, new Uint8Array()]])), /immutable_owner/],
    ['an extension twice', mint(extended(BASE, 'mint', [HOOK, HOOK])), /14 twice/],
    ['a wrong length', mint(extended(BASE, 'mint', [[12, new Uint8Array(31)]])), /31 bytes, not 32/],
    ['cut off in a value', mint(extended(BASE, 'mint', [HOOK]).subarray(0, 230)), /value of extension 14/],
    ['cut off in a length', mint(extended(BASE, 'mint', [HOOK]).subarray(0, 169)), /length of extension 14/],
    ['a state of accounts', mint(extended(BASE, 'mint', [[6, Uint8Array.of(3)]])), /account state 3/],
    ['names that end', mint(extended(BASE, 'mint', [[19, new Uint8Array(70)]])), /metadata/]
  ]
  for (const [name, outcome, reason] of cases) t.match(outcome, { kind: 'refused', reason }, name)
})

t.test('extensions say what they hold, unknown ones have a name too', async (t) => {
  const data = extended(BASE, 'mint', [
    [6, Uint8Array.of(2)],
    [9, new Uint8Array()],
    [10, new Uint8Array(52)],
    [12, key(3)],
    [25, new Uint8Array(56)],
    [26, Uint8Array.of(...key(4), 1)],
    [3, new Uint8Array(32)],
    [77, Uint8Array.of(1, 2, 3)]
  ])
  t.match(mint(data), {
    extensions: [
      'default_account_state',
      'non_transferable',
      'interest_bearing_config',
      'permanent_delegate',
      'scaled_ui_amount_config',
      'pausable_config',
      'mint_close_authority',
      'unknown_77'
    ],
    features: {
      defaultAccountState: 'frozen',
      permanentDelegate: key(3),
      closeAuthority: null,
      paused: true,
      transferFee: null
    }
  })
  t.match(mint(change(data, data.length - 7, 0)), { kind: 'mint' }, 'type zero ends the list')
})

t.test('a token account has its state, delegate, reserve and withheld fees', async (t) => {
  const data = tokenAccountData({
    mint: key(1),
    owner: key(2),
    amount: 7n,
    state: 2,
    delegate: key(3),
    delegatedAmount: 4n,
    nativeReserve: 2_039_280n,
    closeAuthority: key(5)
  })
  const fee = new Uint8Array(8)
  new DataView(fee.buffer).setBigUint64(0, 11n, true)
  t.same(
    account(
      extended(data, 'account', [
        [2, fee],
        [7, new Uint8Array()]
      ])
    ),
    {
      kind: 'token-account',
      tokenProgram: 'token-2022',
      mint: key(1),
      owner: key(2),
      amount: 7n,
      state: 'frozen',
      delegate: key(3),
      delegatedAmount: 4n,
      closeAuthority: key(5),
      nativeReserve: 2_039_280n,
      extensions: ['transfer_fee_amount', 'immutable_owner'],
      withheld: 11n
    }
  )
  const cases: readonly [name: string, outcome: unknown, reason: RegExp][] = [
    ['of another program', account(data, key(9)), /another program/],
    ['too short', account(data.subarray(0, 164), CLASSIC), /not a token account/],
    ['a classic one with more bytes', account(extended(data, 'account', []), CLASSIC), /not a token account/],
    ['not initialized', account(change(data, 108, 0)), /not an initialized/],
    ['an unknown state', account(change(data, 108, 3)), /not an initialized/],
    ['a tag of the delegate', account(change(data, 72, 9)), /tag 9 at byte 72/],
    ['a tag of the reserve', account(change(data, 109, 9)), /tag 9 at byte 109/],
    ['a mint', account(BASE), /not a token account/],
    ['an extension of mints', account(extended(data, 'account', [[12, key(1)]])), /permanent_delegate/]
  ]
  for (const [name, outcome, reason] of cases) t.match(outcome, { kind: 'refused', reason }, name)
})

t.test('metadata of Metaplex, with and without creators', async (t) => {
  const read = (data: Uint8Array, owner: Pubkey = METAPLEX_PROGRAM) => readMetaplex({ owner, data })
  for (const creators of [0, 1, 5])
    for (const isMutable of [true, false])
      t.match(
        read(metaplexData({ mint: key(1), name: 'Naïve ◎', symbol: 'N', uri: '', creators, isMutable })),
        {
          name: 'Naïve ◎',
          symbol: 'N',
          uri: '',
          mint: key(1),
          updateAuthority: null,
          isMutable
        }
      )
  const whole = metaplexData({ mint: key(1), name: 'A', symbol: 'B', uri: 'C', authority: key(2) })
  t.match(read(whole), { updateAuthority: key(2) })
  t.match(read(whole, key(1)), { kind: 'refused', reason: /another program/ })
  t.match(read(change(whole, 0, 6)), { kind: 'refused', reason: /not a metadata/ })
  t.match(read(change(whole, 68, 255)), { kind: 'refused', reason: /unreadable/ }, 'a name beyond the end')
  t.match(read(change(whole, 69, 255)), { kind: 'refused', reason: /unreadable/ }, 'a name that is no UTF-8')
})

t.test('any bytes are read or refused, and nothing is thrown', async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 400 }),
    fc
      .tuple(fc.array(fc.tuple(fc.nat(30), fc.uint8Array({ maxLength: 140 }))), fc.nat(900))
      .map(([entries, length]) => extended(BASE, 'mint', entries).subarray(0, length))
  )
  fc.assert(
    fc.property(bytes, fc.constantFrom(CLASSIC, NEW, METAPLEX_PROGRAM), (data, owner) => {
      for (const read of [readMintAccount, readTokenAccount, readMetaplex]) read({ owner, data })
    }),
    randomRuns(2_000)
  )
})

t.test('a withheld fee is rounded up and never above the maximum or the amount', async (t) => {
  const of = (basisPoints: number, maximum: bigint, amount: bigint): bigint =>
    withheldOf({ epoch: 0n, basisPoints, maximum }, amount)
  t.same([of(100, 10n, 1n), of(100, 10n, 101n), of(100, 10n, 10_000n), of(0, 10n, 9n)], [1n, 2n, 10n, 0n])
  // The recorded transaction of fixtures with version 1: 1 % of what the trader sent.
  t.equal(24_860_554_600_076n - of(100, 2n ** 63n, 24_860_554_600_076n), 24_611_949_054_075n)
})
