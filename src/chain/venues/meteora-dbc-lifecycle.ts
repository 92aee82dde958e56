import type { Emitter } from '../emitter.ts'
import type { Invocation } from '../invocation.ts'
import { samePubkey, type Pubkey } from '../pubkey.ts'
import { INITIALIZES } from './meteora-damm-v1-layouts.ts'
import { CREATES } from './meteora-damm-v2-instructions.ts'
import { LAUNCHES, LAUNCH_EVENTS, migrateMeteoraDamm, migrationDammV2 } from './meteora-dbc-layouts.ts'

/** Emits the launch of a token and its curve. Name, symbol and uri are arguments, the quote mint is an account. */
export function decodeLaunch(call: Invocation, emit: Emitter): void {
  const launch = LAUNCHES.find((candidate) => call.is(candidate))
  const accounts = launch?.accounts(call.accountCount)
  if (launch === undefined || accounts == null) {
    return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  }
  const stated = LAUNCH_EVENTS.flatMap((event) => call.statedEvents(event))[0]
  if (stated === undefined) return emit.missing('event-missing', 'EvtInitializePool')
  const args = call.args(launch)
  if (args === null) return
  const { pool, creator, baseMint } = stated.value
  const quoteMint = call.key(accounts.quoteMint)!
  const baseMintIndex = call.account(accounts.baseMint)
  const minted = call.movements.find(({ kind, mint }) => kind === 'mint' && mint === baseMintIndex)
  const { name, symbol, uri } = args.value
  const about = {
    pool,
    user: call.tokens.trader(call.account(accounts.creator), []),
    baseMint,
    quoteMint,
    curve: pool
  }
  emit.launch({
    ...about,
    event: 'create',
    name,
    symbol,
    uri,
    creator,
    decimals: call.tokens.decimalsOf(baseMint),
    supply: minted?.amount ?? null
  })
  emit.curve({ ...about, event: 'create', progressPct: 0, destination: null, reserves: null })
}

/** Emits a migration that creates the pool it names. A migration without nested calls had no effect. */
export function decodeMigration(call: Invocation, emit: Emitter): void {
  const migration = call.is(migrationDammV2) ? migrationDammV2 : migrateMeteoraDamm
  const accounts = migration.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const destination = call.key(accounts.pool)!
  const created = call.nested.some((inner) => createsPool(inner, destination))
  if (!created) {
    if (call.nested.length > 0) emit.missing('event-missing', 'no pool was created at account 4')
    return
  }
  emit.migration({
    pool: call.key(accounts.virtualPool)!,
    user: call.tokens.trader(call.account(accounts.payer), []),
    baseMint: call.key(accounts.baseMint)!,
    quoteMint: call.key(accounts.quoteMint)!,
    destination
  })
}

function createsPool(inner: Invocation, pool: Pubkey): boolean {
  const position = [...CREATES, ...INITIALIZES]
    .find((candidate) => inner.is(candidate))
    ?.accounts(inner.accountCount)?.pool
  const key = position === undefined ? null : inner.key(position)
  return key !== null && samePubkey(key, pool)
}
