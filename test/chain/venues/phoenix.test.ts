import fc from 'fast-check'
import t from 'tap'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import {
  fill,
  fillSummary,
  header,
  initializeMarket,
  place,
  placeLimitOrder,
  placeLimitOrderWithFreeFunds,
  swap,
  swapWithFreeFunds
} from '../../../src/chain/venues/phoenix-layouts.ts'
import { phoenix } from '../../../src/chain/venues/phoenix.ts'
import { testWithFixtures } from '../../fixtures.ts'
import { buildTransaction, keyOf, tokenTransfer, type CallSpec } from '../build-transaction.ts'
import { checkVaults, recordedVenue, statedHops } from '../vault-check.ts'
import { anyCallDecodes, layoutsReadWhatTheyWrite } from '../venue-properties.ts'
import { randomRuns } from '../../random-runs.ts'

const [PROGRAM] = phoenix.programs as [string]
const BID = 0
const ASK = 1

const BALANCES = [
  { account: 'base vault', mint: 'base', decimals: 9 },
  { account: 'quote vault', mint: 'quote', decimals: 6 }
]
const MARKET = [PROGRAM, 'log authority', 'market', 'trader']
const VAULTS = ['base tokens', 'quote tokens', 'base vault', 'quote vault', 'token program']

function decoded(...calls: CallSpec[]) {
  return decodeTransaction(buildTransaction({ signers: ['trader'], calls, balances: BALANCES }))
}

/** The program's own `Log` call with a batch of events. */
function batch(...events: Uint8Array[]): CallSpec {
  const head = header.write({
    instruction: 0,
    sequence: 9n,
    timestamp: 1n,
    slot: 2n,
    market: keyOf('market'),
    signer: keyOf('trader'),
    events: events.length
  })
  return {
    program: PROGRAM,
    accounts: ['log authority'],
    data: Uint8Array.from([15, ...head, ...events.flatMap((event) => [...event])])
  }
}

function filled(priceInTicks: bigint, baseLotsFilled: bigint): Uint8Array {
  const order = { index: 0, maker: keyOf('maker'), orderSequence: 3n, baseLotsRemaining: 0n }
  return fill.write({ ...order, priceInTicks, baseLotsFilled })
}

function summary(baseLots: bigint, quoteLots: bigint, feeQuoteLots = 0n): Uint8Array {
  return fillSummary.write({ index: 1, clientOrderId: 0n, baseLots, quoteLots, feeQuoteLots })
}

function placed(priceInTicks: bigint, baseLots: bigint): Uint8Array {
  return place.write({ index: 2, orderSequence: 4n, clientOrderId: 0n, priceInTicks, baseLots })
}

const take = {
  kind: 2,
  side: BID,
  priceInTicks: null,
  baseLots: 0n,
  quoteLots: 0n,
  minBaseLotsToFill: 0n,
  minQuoteLotsToFill: 0n,
  selfTradeBehavior: 1,
  matchLimit: null,
  clientOrderId: 0n,
  usesOnlyDepositedFunds: false
}

function swapCall(terms: Partial<typeof take>, inner: CallSpec[]): CallSpec {
  return {
    program: PROGRAM,
    accounts: [...MARKET, ...VAULTS],
    data: swap.write({ ...take, ...terms }),
    inner
  }
}

function limitCall(side: number, inner: CallSpec[]): CallSpec {
  const data = placeLimitOrder.write({ kind: 1, side, terms: new Uint8Array(40) })
  return { program: PROGRAM, accounts: [...MARKET, 'seat', ...VAULTS], data, inner }
}

const takes = (vault: 'base' | 'quote', amount: bigint) =>
  tokenTransfer(`${vault} tokens`, `${vault} vault`, 'trader', amount)
const pays = (vault: 'base' | 'quote', amount: bigint) =>
  tokenTransfer(`${vault} vault`, `${vault} tokens`, 'vault authority', amount)

testWithFixtures(t, 'recorded takes agree with the balances of the vaults, without notes', async (t) => {
  let checked = 0
  for (const { entry, facts, failed, trades, notes } of recordedVenue('phoenix', 'phoenix')) {
    const { signature } = entry
    const swaps = entry.instructions.phoenix!.filter((name) => name === 'swap')
    t.same(notes, [], signature)
    t.equal(trades.length, failed ? 0 : swaps.length, `${signature}: orders that fill nothing are no trades`)
    const verdict = checkVaults(facts, trades, PROGRAM, ({ accounts }) =>
      accounts.length === 9 ? [accounts[6]!, accounts[7]!] : null
    )
    t.same(verdict.differences, [], signature)
    checked += verdict.checked
  }
  t.ok(checked >= 8, `${checked} takes were checked`)
})

testWithFixtures(t, 'recorded takes agree with the hops that an aggregator states', async (t) => {
  t.same(statedHops('phoenix', 'phoenix', PROGRAM), { differences: [], hops: 1 })
})

t.test('a take of several makers is one trade: what came out first, what went in after', async (t) => {
  const { events, notes } = decoded(
    swapCall({ quoteLots: 3_001_000n }, [
      pays('base', 20_000_000n),
      takes('quote', 3_001_000n),
      batch(filled(150n, 8n), filled(151n, 12n)),
      batch(summary(20n, 3_001_000n, 600n))
    ])
  )
  t.same(notes, [])
  t.match(events, [
    {
      kind: 'trade',
      venue: 'phoenix',
      pool: keyOf('market'),
      user: keyOf('trader'),
      inMint: keyOf('quote'),
      outMint: keyOf('base'),
      inAmount: 3_001_000n,
      outAmount: 20_000_000n,
      traderIn: 3_001_000n,
      fees: [{ kind: 'trading', mint: keyOf('quote'), amount: 600n }],
      exact: 'in'
    }
  ])
  t.equal(events.length, 1)
})

t.test('the fixed side of a take is the one whose lots are set', async (t) => {
  const bought = [pays('base', 10n), takes('quote', 7n), batch(summary(10n, 7n))]
  const sold = [pays('quote', 7n), takes('base', 10n), batch(summary(10n, 7n))]
  t.match(decoded(swapCall({ baseLots: 10n }, bought)).events, [{ exact: 'out' }])
  t.match(decoded(swapCall({ side: ASK, baseLots: 10n }, sold)).events, [{ exact: 'in', inAmount: 10n }])
  t.match(decoded(swapCall({ side: ASK, quoteLots: 7n }, sold)).events, [{ exact: 'out', outAmount: 7n }])
})

t.test('a take paid in part from funds in the market is held back', async (t) => {
  const halves = [7_000n, 6_000n, 1n]
  for (const paid of halves) {
    const inner = [pays('base', 10_000n), takes('quote', paid), batch(summary(10n, 12n))]
    const { events, notes } = decoded(swapCall({ quoteLots: 12n }, inner))
    t.same(events, [])
    t.match(notes, [{ kind: 'missing', reason: 'readings-contradict' }])
  }
  const { events, notes } = decoded(swapCall({}, [pays('base', 10_000n), batch(summary(10n, 12n))]))
  t.same(events, [])
  t.match(notes, [{ kind: 'missing', reason: 'no-movements' }])
})

t.test(
  'a take that found no maker is nothing, and one whose log cannot be read goes by its transfers',
  async (t) => {
    t.same(decoded(swapCall({}, [batch(summary(0n, 0n))])), { events: [], notes: [] })
    const unknown = batch(Uint8Array.of(77, 1, 2, 3))
    const { events, notes } = decoded(swapCall({}, [pays('base', 10n), takes('quote', 7n), unknown]))
    t.match(events, [{ inAmount: 7n, outAmount: 10n }])
    t.match(notes, [{ kind: 'drift', layout: 'batch of events', bytes: 4 }])
  }
)

t.test('a limit order that only rests is no trade', async (t) => {
  const resting = [takes('quote', 900n), batch(summary(0n, 0n), placed(100n, 9n))]
  t.same(decoded(limitCall(BID, resting)), { events: [], notes: [] })
  t.same(decoded(limitCall(BID, [])).events, [])
  t.same(decoded(limitCall(BID, [batch(placed(100n, 9n))])), { events: [], notes: [] }, 'a post-only order')
})

t.test('a selling limit order that crosses and rests has the resting lots taken off', async (t) => {
  const inner = [
    pays('quote', 600n),
    takes('base', 15_000n),
    batch(filled(60n, 10n), summary(10n, 600n), placed(61n, 5n))
  ]
  const { events, notes } = decoded(limitCall(ASK, inner))
  t.same(notes, [])
  t.match(events, [
    { inMint: keyOf('base'), inAmount: 10_000n, traderIn: 10_000n, outAmount: 600n, exact: null }
  ])
})

t.test('a buying limit order that crosses and rests has what it locked taken off', async (t) => {
  // One tick and lot is worth 2 quote lots: 10 lots at 50 cost 1000 and a fee of 7, 4 lots rest at 51 for 408.
  const inner = [
    pays('base', 10_000n),
    takes('quote', 141_500n),
    batch(filled(50n, 10n), summary(10n, 1_007n, 7n), placed(51n, 4n))
  ]
  const { events, notes } = decoded(limitCall(BID, inner))
  t.same(notes, [])
  t.match(events, [
    {
      inMint: keyOf('quote'),
      inAmount: 100_700n,
      outAmount: 10_000n,
      fees: [{ kind: 'trading', amount: 700n }]
    }
  ])
})

t.test('a crossing limit order that used funds in the market is held back', async (t) => {
  const inner = [
    pays('quote', 600n),
    takes('base', 9_000n),
    batch(filled(60n, 10n), summary(10n, 600n), placed(61n, 5n))
  ]
  const { events, notes } = decoded(limitCall(ASK, inner))
  t.same(events, [])
  t.match(notes, [{ kind: 'missing', reason: 'readings-contradict' }])
})

t.test('orders that use funds in the market are noted when they fill', async (t) => {
  const accounts = [...MARKET, 'seat']
  const calls = [
    { program: PROGRAM, accounts, data: swapWithFreeFunds.write(take) },
    {
      program: PROGRAM,
      accounts,
      data: placeLimitOrderWithFreeFunds.write({ kind: 1, side: ASK, terms: new Uint8Array() })
    }
  ]
  for (const call of calls) {
    t.same(decoded({ ...call, inner: [batch(summary(0n, 0n))] }), { events: [], notes: [] })
    const { events, notes } = decoded({ ...call, inner: [batch(filled(1n, 8n), summary(8n, 8n))] })
    t.same(events, [])
    t.match(notes, [{ kind: 'missing', reason: 'no-movements', detail: /8 lots/ }])
  }
})

t.test(
  'placing, cancelling, depositing and withdrawing are no events, and every tag has a name',
  async (t) => {
    const tags = [...Array(18).keys(), ...Array.from({ length: 11 }, (_, i) => 100 + i)]
    for (const tag of tags) t.ok(phoenix.instructions.find(Uint8Array.of(tag)), `tag ${tag}`)
    const accounts = [...MARKET, ...VAULTS]
    for (const tag of [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 108]) {
      const call = {
        program: PROGRAM,
        accounts,
        data: Uint8Array.of(tag, 0),
        inner: [pays('base', 5n), batch()]
      }
      t.same(decoded(call), { events: [], notes: [] })
    }
    const { notes } = decoded({ program: PROGRAM, accounts, data: Uint8Array.of(99) })
    t.match(notes, [{ kind: 'unknown-instruction', discriminator: '63' }])
  }
)

t.test('a new market is a pool, with its taker fee', async (t) => {
  const lots = { bidsSize: 1n, asksSize: 1n, seats: 1n, quoteLotsPerQuoteUnit: 1n, baseLotsPerBaseUnit: 1n }
  const terms = { tickSizeInQuoteLotsPerBaseUnit: 1n, takerFeeBps: 5, feeCollector: keyOf('collector') }
  const accounts = [
    PROGRAM,
    'log authority',
    'market',
    'trader',
    'base',
    'quote',
    'base vault',
    'quote vault'
  ]
  const { events, notes } = decoded({
    program: PROGRAM,
    accounts,
    data: initializeMarket.write({ ...lots, ...terms })
  })
  t.same(notes, [])
  t.match(events, [
    { kind: 'pool', event: 'create', pool: keyOf('market'), baseMint: keyOf('base'), feeBps: 5 }
  ])
})

t.test('a limit order gives the fill back whatever rests, for any lot sizes', async (t) => {
  const lots = fc.bigInt(1n, 10_000n)
  const size = fc.integer({ min: 0, max: 9 }).map((zeros) => 10n ** BigInt(zeros))
  fc.assert(
    fc.property(lots, lots, lots, size, size, (base, quote, rest, baseSize, quoteSize) => {
      const inner = [
        pays('quote', quote * quoteSize),
        takes('base', (base + rest) * baseSize),
        batch(filled(1n, base), summary(base, quote), placed(2n, rest))
      ]
      const [trade] = decoded(limitCall(ASK, inner)).events
      return (
        trade?.kind === 'trade' && trade.inAmount === base * baseSize && trade.outAmount === quote * quoteSize
      )
    }),
    randomRuns(200, 1)
  )
  t.pass('every fill was found')
})

t.test('what every layout reads, it writes again', async (t) => layoutsReadWhatTheyWrite(t, phoenix))

t.test('no bytes, accounts or logs throw', async (t) => anyCallDecodes(t, phoenix))

t.test('hostile batches and short account lists never throw', async (t) => {
  fc.assert(
    fc.property(
      fc.nat(17),
      fc.uint8Array({ maxLength: 90 }),
      fc.nat(10),
      fc.uint8Array(),
      (tag, tail, count, log) => {
        decoded({
          program: PROGRAM,
          accounts: [...MARKET, 'seat', ...VAULTS].slice(0, count),
          data: Uint8Array.of(tag, ...tail),
          inner: [{ program: PROGRAM, accounts: [], data: Uint8Array.of(15, 1, ...log) }, pays('base', 3n)]
        })
      }
    ),
    randomRuns(500, 1)
  )
  t.pass('no run threw')
})
