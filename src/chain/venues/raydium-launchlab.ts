import type { Emitter } from '../emitter.ts'
import type { Invocation } from '../invocation.ts'
import { LayoutTable, type InstructionLayout, type Layout } from '../layout.ts'
import type { Pubkey } from '../pubkey.ts'
import { anchorSelfCall, type Venue } from '../venue.ts'
import { ammInitialize2 } from './raydium-amm-v4.ts'
import { cpmmInitialize, cpmmInitializeWithPermission } from './raydium-cpmm-layouts.ts'
import {
  INITIALIZES,
  OTHER_EVENTS,
  TRADES,
  UPKEEP,
  migrateToAmm,
  migrateToCpswap,
  poolCreateEvent,
  tradeEvent
} from './raydium-launchlab-layouts.ts'
import { decodeTrade, decodeUnknownTrade } from './raydium-launchlab-trade.ts'

export const raydiumLaunchlab: Venue = {
  id: 'raydium-launchlab',
  programs: ['LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj'],
  // Newer versions also log trades; the self-call is used because it is never truncated.
  transport: 'self-call',
  instructions: new LayoutTable<InstructionLayout>([
    ...TRADES,
    ...INITIALIZES,
    migrateToAmm,
    migrateToCpswap,
    ...UPKEEP
  ]),
  events: new LayoutTable<Layout<unknown>>([tradeEvent, poolCreateEvent, ...OTHER_EVENTS]),
  statedEventOffset: anchorSelfCall,
  decode(call, emit) {
    const trade = TRADES.find((candidate) => call.is(candidate))
    if (trade !== undefined) return decodeTrade(call, emit, trade)
    const initialize = INITIALIZES.find((candidate) => call.is(candidate))
    if (initialize !== undefined) return decodeInitialize(call, emit, initialize)
    if (call.is(migrateToAmm)) return decodeMigration(call, emit, migrateToAmm)
    if (call.is(migrateToCpswap)) return decodeMigration(call, emit, migrateToCpswap)
    if (call.layout === undefined) decodeUnknownTrade(call, emit)
  }
}

function decodeInitialize(call: Invocation, emit: Emitter, layout: (typeof INITIALIZES)[number]): void {
  const accounts = layout.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const launch = call.statedEvents(poolCreateEvent)[0]?.value ?? call.args(layout)?.value
  if (launch === undefined) return emit.missing('event-missing')
  const { baseMintParam, curveParam } = launch
  const curve = call.key(accounts.poolState)!
  const baseMint = call.key(accounts.baseMint)!
  const quoteMint = call.key(accounts.quoteMint)!
  const user = call.tokens.trader(call.account(accounts.payer), [])
  call.tokens.stateDecimals(baseMint, baseMintParam.decimals)
  emit.launch({
    event: 'create',
    pool: curve,
    curve,
    user,
    baseMint,
    quoteMint,
    name: baseMintParam.name,
    symbol: baseMintParam.symbol,
    uri: baseMintParam.uri,
    creator: call.key(accounts.creator)!,
    decimals: baseMintParam.decimals,
    supply: curveParam.supply
  })
  emit.curve({
    event: 'create',
    pool: curve,
    curve,
    user,
    baseMint,
    quoteMint,
    progressPct: 0,
    destination: null,
    reserves:
      curveParam.totalBaseSell === null
        ? { realQuote: 0n }
        : { realBase: curveParam.totalBaseSell, realQuote: 0n },
    targetQuote: curveParam.totalQuoteFundRaising
  })
}

/** Emits a migration if it opened a pool; the pool's own opening names the destination. */
function decodeMigration(
  call: Invocation,
  emit: Emitter,
  migration: typeof migrateToAmm | typeof migrateToCpswap
): void {
  const accounts = migration.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const destination = openedPool(call)
  if (destination === null) return
  emit.migration({
    pool: call.key(accounts.poolState)!,
    user: call.tokens.trader(call.account(accounts.payer), []),
    baseMint: call.key(accounts.baseMint)!,
    quoteMint: call.key(accounts.quoteMint)!,
    destination
  })
}

function openedPool(call: Invocation): Pubkey | null {
  for (const opening of call.nested) {
    if (opening.is(ammInitialize2)) {
      const accounts = ammInitialize2.accounts(opening.accountCount)
      if (accounts !== null) return opening.key(accounts.amm)
    }
    for (const initialize of [cpmmInitialize, cpmmInitializeWithPermission]) {
      if (!opening.is(initialize)) continue
      const accounts = initialize.accounts(opening.accountCount)
      if (accounts !== null) return opening.key(accounts.poolState)
    }
  }
  return null
}
