import type { ChainEvent, LiquidityChange, Trade } from '../../../src/chain/events.ts'
import { pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import type { DecodedRecord } from './decoded-record.ts'
import {
  decimals,
  eventCount,
  eventField,
  eventOf,
  networkFee,
  rawAmount,
  routeSide,
  SOL,
  statedFields,
  trader,
  walletLamports,
  type Expectation
} from './expectation.ts'

// Readers of sources that state fields of events, counts of events, or only their existence.

const PUMP = '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P'
const PUMPSWAP = 'pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA'
const DAMM_V2 = 'cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG'

type Values = Readonly<Record<string, string | number | boolean>>

function pick(values: Values, names: readonly string[]): Values {
  return Object.fromEntries(names.filter((name) => name in values).map((name) => [name, values[name]!]))
}

function without(values: Values, names: readonly string[]): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)))
}

/** Accounts and arguments of the instruction, and flags of the source's own, that stand among an event's fields. */
const STREAMER_PUMP_ELSEWHERE = [
  'bonding_curve',
  'associated_bonding_curve',
  'associated_user',
  'creator_vault',
  'max_sol_cost',
  'min_sol_output',
  'amount',
  'is_bot',
  'is_dev_create_token_trade'
]
const STREAMER_PUMPSWAP_ELSEWHERE = [
  'base_mint',
  'quote_mint',
  'pool_base_token_account',
  'pool_quote_token_account',
  'coin_creator_vault_ata',
  'coin_creator_vault_authority'
]

/** 0xfnzero/solana-streamer: all fields of a trade event. */
export function readStreamerEvent(values: Values): Expectation[] {
  if ('quote_amount_out' in values) {
    return [
      statedFields(PUMPSWAP, 'event', without(values, STREAMER_PUMPSWAP_ELSEWHERE)),
      routeOf('pumpswap', 'inAmount', values.base_amount_in),
      routeOf('pumpswap', 'outAmount', values.quote_amount_out_without_lp_fee),
      routeOf('pumpswap', 'traderOut', values.user_quote_amount_out),
      routeOf('pumpswap', 'inMint', values.base_mint),
      routeOf('pumpswap', 'outMint', values.quote_mint),
      routeOf('pumpswap', 'pool', values.pool),
      routeOf('pumpswap', 'user', values.user),
      ...accountsNamed(PUMPSWAP, pick(values, STREAMER_PUMPSWAP_ELSEWHERE))
    ]
  }
  return [
    statedFields(PUMP, 'event', without(values, STREAMER_PUMP_ELSEWHERE)),
    statedFields(PUMP, 'instruction', pick(values, ['max_sol_cost', 'amount'])),
    routeOf('pumpfun', 'inAmount', values.sol_amount),
    routeOf('pumpfun', 'outAmount', values.token_amount),
    routeOf('pumpfun', 'outMint', values.mint),
    routeOf('pumpfun', 'pool', values.bonding_curve),
    routeOf('pumpfun', 'user', values.user),
    ...accountsNamed(PUMP, pick(values, ['associated_bonding_curve', 'associated_user', 'creator_vault']))
  ]
}

function routeOf(venue: string, field: keyof Trade, expected: unknown): Expectation {
  return eventField(`${venue} trade ${field}`, expected, ({ trades }) => {
    return trades.find((trade) => trade.venue === venue)?.[field]
  })
}

/** Expects that a call of the program names the addresses. */
function accountsNamed(program: string, addresses: Values): Expectation[] {
  return Object.entries(addresses).map(([name, address]) => ({
    says: `${name} ${String(address)}`,
    disagreement: ({ raw }: DecodedRecord) =>
      raw.calls.some((call) => call.program === program && call.accounts.includes(String(address)))
        ? null
        : 'no such account'
  }))
}

/** RubberArchind/solana-txn-parser: launches, curve trades with reserves, swaps and liquidity changes. */
export function readParsedAction(values: Values, position: number): Expectation[] {
  if ('createdBy' in values) return readLaunch(values)
  if ('solAmount' in values) return readCurveTrade(values, position)
  const pool = eventField('pool', values.poolId, ({ events }) => events[0]?.pool)
  const count = eventCount('event', Number(values['actions.length']), () => true)
  if (values.type === 'swap') {
    return [
      pool,
      count,
      routeOf('raydium-amm-v4', 'inMint', values.tokenIn),
      routeOf('raydium-amm-v4', 'outMint', values.tokenOut),
      routeOf('raydium-amm-v4', 'inDecimals', values.tokenInDecimal),
      routeOf('raydium-amm-v4', 'outDecimals', values.tokenOutDecimal)
    ]
  }
  const change = (field: keyof LiquidityChange, expected: unknown): Expectation =>
    eventField(`liquidity ${field}`, expected, ({ events }) => {
      const found = events.find((event) => event.kind === 'liquidity')
      return found?.[field]
    })
  return [
    pool,
    count,
    change('event', values.type),
    change('baseMint', values.baseMint),
    change('quoteMint', values.quoteMint),
    decimals(String(values.baseMint), String(values.baseDecimal)),
    decimals(String(values.quoteMint), String(values.quoteDecimal)),
    change('baseAmount', values.baseAmountIn ?? values.baseAmountOut),
    change('quoteAmount', values.quoteAmountIn ?? values.quoteAmountOut),
    change('lpAmount', values.mintedLpAmount ?? values.lpAmountOut),
    change('user', values.user)
  ]
}

const LAUNCH_FIELDS = {
  name: 'name',
  symbol: 'symbol',
  uri: 'uri',
  tokenMint: 'baseMint',
  bondingCurve: 'curve',
  tokenDecimals: 'decimals',
  createdBy: 'user'
} as const

function readLaunch(values: Values): Expectation[] {
  return Object.entries(LAUNCH_FIELDS).map(([stated, field]) =>
    eventField(`launch ${field}`, values[stated], ({ events }) => {
      const launch = events.find((event) => event.kind === 'launch')
      return launch?.[field]
    })
  )
}

function readCurveTrade(values: Values, position: number): Expectation[] {
  const isBuy = values.isBuy === true
  const of = (what: string, expected: unknown, read: (trade: Trade) => unknown): Expectation =>
    eventField(`trade ${position} ${what}`, expected, ({ trades }) => {
      const trade = trades[position]
      return trade === undefined ? 'no trade' : read(trade)
    })
  return [
    of('mint', values.tokenMint, (trade) => (isBuy ? trade.outMint : trade.inMint)),
    of('SOL', values.solAmount, (trade) => (isBuy ? trade.inAmount : trade.outAmount)),
    of('tokens', values.tokenAmount, (trade) => (isBuy ? trade.outAmount : trade.inAmount)),
    of('trader', values.trader, (trade) => trade.user),
    of('virtual SOL', values.virtualSolReserves, ({ reserves }) =>
      isBuy ? reserves?.virtualIn : reserves?.virtualOut
    ),
    of('virtual tokens', values.virtualTokenReserves, ({ reserves }) =>
      isBuy ? reserves?.virtualOut : reserves?.virtualIn
    ),
    statedFields(PUMP, 'event', {
      mint: values.tokenMint!,
      timestamp: values.timestamp!,
      sol_amount: values.solAmount!
    })
  ]
}

/** rpcpool/yellowstone-vixen: a test's name states which program's parser it tests. */
const LABELLED: Readonly<Record<string, string>> = {
  test_meteora_pools_specific_signatures: 'meteora-damm-v1',
  test_meteora_amm_specific_signatures: 'meteora-damm-v2',
  test_meteora_dbc_specific_signatures: 'meteora-dbc',
  test_meteora_dlmm_specific_signatures: 'meteora-dlmm',
  test_pumpfun_specific_signatures: 'pumpfun',
  test_pump_swaps_specific_signatures: 'pumpswap',
  test_raydium_clmm_specific_signatures: 'raydium-clmm',
  test_raydium_cpmm_specific_signatures: 'raydium-cpmm',
  test_raydium_launchpad_specific_signatures: 'raydium-launchlab'
}

export function readLabel({ label }: Values): Expectation[] {
  return [eventOf(LABELLED[String(label)] ?? `unknown label ${String(label)}`)]
}

/** sicotjeanvivien/yog-sothoth: fields of DAMM v2 events. */
export function readDammV2Fields(values: Values): Expectation[] {
  const fields = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name.replace(/^\w+\./, ''), value])
  )
  return [statedFields(DAMM_V2, 'event', fields)]
}

/** kristijorgji/kxypto_bot: the change of a wallet's lamports, with and without the network's fee. */
export function readWalletDelta(values: Values): Expectation[] {
  const gross = BigInt(Number(values.grossTransferredLamports))
  const net = BigInt(Number(values.netTransferredLamports))
  const found = [
    networkFee(gross - net),
    walletLamports(gross, 'wallet change before the network fee'),
    ...(values.wallet === undefined ? [] : [trader(String(values.wallet))])
  ]
  if (values.boughtAmountRaw === undefined) return found
  return [...found, eventField('bought', values.boughtAmountRaw, ({ trades }) => trades[0]?.outAmount)]
}

/** pivox/sol-token-listener: the number of events of a kind. */
export function readCounts(values: Values): Expectation[] {
  const isKind =
    (kind: ChainEvent['kind'], venue: string, event?: string) =>
    (each: ChainEvent): boolean =>
      each.kind === kind &&
      each.venue === venue &&
      (event === undefined || ('event' in each && each.event === event))
  const found: Expectation[] = []
  const count = (name: string, is: (event: ChainEvent) => boolean): void => {
    if (name in values) found.push(eventCount(name, Number(values[name]), is))
  }
  count('trades', isKind('trade', 'pumpfun'))
  count('creations', isKind('launch', 'pumpfun'))
  count('migrations', isKind('curve', 'pumpfun', 'migrate'))
  count('poolCreations', isKind('pool', 'pumpswap', 'create'))
  if ('isBuy' in values) {
    found.push(
      eventField(
        'is a buy:',
        values.isBuy,
        ({ trades }) => trades[0] && pubkeyToBase58(trades[0].inMint) === SOL
      )
    )
  }
  if ('transactionIndex' in values) {
    found.push(eventField('position', values.transactionIndex, ({ transaction }) => transaction.index))
  }
  return found
}

interface ParsedTransaction {
  readonly message: {
    readonly instructions: readonly {
      readonly programId: string
      readonly accounts?: readonly string[]
      readonly data?: string
    }[]
  }
}

/** chainstacklabs/pump-fun-bot: the outer instructions of a transaction that launches or buys. */
export function readPumpInstructions({ message }: ParsedTransaction): Expectation[] {
  const calls = message.instructions.filter(({ programId }) => programId === PUMP)
  const names = calls.map(({ accounts }) => (accounts?.length === 14 ? 'launch' : 'trade'))
  return [
    eventField('accounts', calls.map(({ accounts }) => accounts!.join()).join(), ({ raw }) =>
      raw.calls
        .filter(({ program, innerIxIndex }) => program === PUMP && innerIxIndex === null)
        .map(({ accounts }) => accounts.join())
        .join()
    ),
    ...[...new Set(names)].map((kind) => eventOf('pumpfun', kind))
  ]
}

/** actionsacclol/kryptoprivate11: a wallet's sale, with the SOL that its balance gained. */
export function readWalletSale(values: Values): Expectation[] {
  return [
    trader(String(values.wallet)),
    eventField('sold mint', values.mint, ({ trades }) => trades[0]?.inMint),
    routeSide('out', SOL, rawAmount(String(values.solAbs), 9))
  ]
}
