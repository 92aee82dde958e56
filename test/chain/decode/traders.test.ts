import t from 'tap'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import { pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import { readRpcTransaction } from '../../../src/chain/rpc/transaction.ts'
import { raydiumCpmm } from '../../../src/chain/venues/raydium-cpmm.ts'
import { swapBaseInput } from '../../../src/chain/venues/raydium-cpmm-layouts.ts'
import {
  buildTransaction,
  closeAccount,
  createAccount,
  FEE_LAMPORTS,
  keyOf,
  lamportTransfer,
  tokenTransfer,
  type BalanceSpec,
  type CallSpec,
  type TransactionSpec
} from '../build-transaction.ts'
import { recordedCase, type RecordedCase } from '../cases/recorded-case.ts'

const PAYER = 'Gygj9QQby4j2jryqyqBHvLP7ctv2SaANgh4sCb69BUpA'
const VAULT_OWNER = 'BwWK17cbHxwWBKZkUYvzxLcNQ1YVyaFezduWbtm2de6s'
/** An account of USDC that the recorded transaction names but whose balance does not change. */
const OTHER_USDC = 18
/** The account of USDC that pays. */
const PAYING_USDC = 3

function traderOf(result: RecordedCase): string {
  const outcome = readRpcTransaction(result)
  if (outcome.kind !== 'transaction') throw new Error(outcome.kind)
  const { events, notes } = decodeTransaction(outcome.transaction)
  t.same(notes, [])
  t.equal(events.length, 1)
  return pubkeyToBase58(events[0]!.user)
}

function changedCase(change: (result: RecordedCase) => void): string {
  const result = recordedCase('mayhem-agent-buy')
  change(result)
  return traderOf(result)
}

t.test("a purchase of a program's funds is that of their owner, who did not sign", async (t) => {
  t.equal(traderOf(recordedCase('mayhem-agent-buy')), VAULT_OWNER)
})

t.test('the fee payer is the trader if it owns the account that paid', async (t) => {
  const trader = changedCase(({ meta }) => {
    for (const balance of [...meta.preTokenBalances, ...meta.postTokenBalances])
      if (balance.accountIndex === PAYING_USDC) balance.owner = PAYER
  })
  t.equal(trader, PAYER)
})

t.test('a signer whose own tokens of a traded mint changed is the trader', async (t) => {
  const held = ({ meta }: RecordedCase): void => {
    for (const balance of [...meta.preTokenBalances, ...meta.postTokenBalances])
      if (balance.accountIndex === OTHER_USDC) balance.owner = PAYER
  }
  t.equal(changedCase(held), VAULT_OWNER, 'its own tokens of the mint did not change')
  const trader = changedCase((result) => {
    held(result)
    const after = result.meta.postTokenBalances.find((each) => each.accountIndex === OTHER_USDC)!
    after.uiTokenAmount.amount = '0'
  })
  t.equal(trader, PAYER)
})

const SOL = 'So11111111111111111111111111111111111111112'
const SWAP_ACCOUNTS = ['program address', 'authority', 'config', 'pool', 'from', 'to', 'vault 0', 'vault 1']
const balance = (account: string, mint: string, owner: string): BalanceSpec => ({
  account,
  mint,
  owner,
  decimals: mint === SOL ? 9 : 6
})

/** A router that swaps with the funds of its own address. */
function routed(spec: Partial<TransactionSpec> & { readonly beside?: readonly CallSpec[] }) {
  const swap: CallSpec = {
    program: raydiumCpmm.programs[0]!,
    accounts: [...SWAP_ACCOUNTS, 'p', 'p', SOL, 'mint', 'observation'],
    data: swapBaseInput.write({ amountIn: 100n, minimumAmountOut: 1n }),
    inner: [
      tokenTransfer('from', 'vault 0', 'program address', 100n),
      tokenTransfer('vault 1', 'to', 'authority', 50n)
    ]
  }
  const { events } = decodeTransaction(
    buildTransaction({
      signers: ['payer'],
      calls: [
        ...(spec.beside ?? []),
        { program: 'router', accounts: [], data: new Uint8Array(8), inner: [swap] }
      ],
      balances: [
        balance('vault 0', SOL, 'authority'),
        balance('vault 1', 'mint', 'authority'),
        balance('from', SOL, 'vault owner'),
        balance('to', 'mint', 'vault owner')
      ],
      ...spec
    })
  )
  t.match(events, [{ kind: 'trade', inAmount: 100n, outAmount: 50n }])
  return pubkeyToBase58(events[0]!.user)
}
const named = (name: string): string => pubkeyToBase58(keyOf(name))

t.test('lamports count for SOL beyond what sending the transaction costs', async (t) => {
  t.equal(routed({}), named('vault owner'), 'the fee alone')
  t.equal(routed({ lamports: { payer: [10_000, 10_000 - FEE_LAMPORTS - 100] } }), named('payer'), 'it paid')
  t.equal(routed({ lamports: { payer: [10_000, 10_100 - FEE_LAMPORTS] } }), named('payer'), 'it received')
  const tipped = routed({
    beside: [lamportTransfer('payer', 'tip account', 700n)],
    lamports: { payer: [10_000, 9_300 - FEE_LAMPORTS], 'tip account': [5, 705] }
  })
  t.equal(tipped, named('vault owner'), 'a tip')
  const opened = {
    beside: [createAccount('payer', 'to', 2_000n)],
    lamports: { payer: [10_000, 8_000 - FEE_LAMPORTS], to: [0, 2_000] }
  } as const
  t.equal(routed(opened), named('vault owner'), 'rent of a new account')
  const closed = routed({
    beside: [closeAccount('old', 'payer', 'payer')],
    lamports: { payer: [10_000, 12_000 - FEE_LAMPORTS], old: [2_000, 0] }
  })
  t.equal(closed, named('vault owner'), 'rent of a closed account')
  const position = routed({
    signers: ['payer', 'position'],
    beside: [createAccount('payer', 'position', 2_000n)],
    lamports: { payer: [10_000, 8_000 - FEE_LAMPORTS], position: [0, 2_000] }
  })
  t.equal(position, named('vault owner'), 'the rent of a new account that signed')
})

t.test('a second signer that paid is the trader, not the fee payer', async (t) => {
  t.equal(routed({ signers: ['payer', 'user'], lamports: { user: [500, 400] } }), named('user'))
})

t.test('without owners and lamports on record the authority is the trader', async (t) => {
  const balances = [
    { account: 'vault 0', mint: SOL, decimals: 9 },
    { account: 'vault 1', mint: 'mint', decimals: 6 }
  ]
  t.equal(routed({ balances, lamports: { payer: [FEE_LAMPORTS, 0] } }), named('program address'))
})

t.test('the middle fill of a route is the trade of the signer at its ends', async (t) => {
  const hop = (pool: string, from: string, to: string): CallSpec => ({
    program: raydiumCpmm.programs[0]!,
    accounts: [
      'program address',
      'authority',
      'config',
      pool,
      `own ${from}`,
      `own ${to}`,
      `${pool} ${from}`,
      `${pool} ${to}`,
      ...['p', 'p', from, to, 'observation']
    ],
    data: swapBaseInput.write({ amountIn: 100n, minimumAmountOut: 1n }),
    inner: [
      tokenTransfer(`own ${from}`, `${pool} ${from}`, 'program address', 100n),
      tokenTransfer(`${pool} ${to}`, `own ${to}`, 'authority', 100n)
    ]
  })
  const pools = [
    ['one', 'a', 'b'],
    ['two', 'b', 'c'],
    ['three', 'c', 'd']
  ] as const
  const { events } = decodeTransaction(
    buildTransaction({
      signers: ['payer', 'user'],
      calls: [
        {
          program: 'router',
          accounts: [],
          data: new Uint8Array(8),
          inner: [
            tokenTransfer('user a', 'own a', 'user', 100n),
            ...pools.map(([pool, from, to]) => hop(pool, from, to)),
            tokenTransfer('own d', 'user d', 'program address', 100n)
          ]
        }
      ],
      balances: [
        ...pools.flatMap(([pool, from, to]) => [
          balance(`${pool} ${from}`, from, 'authority'),
          balance(`${pool} ${to}`, to, 'authority')
        ]),
        ...['a', 'b', 'c', 'd'].map((mint) => balance(`own ${mint}`, mint, 'program address')),
        balance('user a', 'a', 'user'),
        balance('user d', 'd', 'user')
      ]
    })
  )
  t.same(
    events.map(({ user }) => pubkeyToBase58(user)),
    [named('user'), named('user'), named('user')]
  )
})
