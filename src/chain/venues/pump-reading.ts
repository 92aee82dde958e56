import type { Fee } from '../events.ts'
import type { Invocation } from '../invocation.ts'
import type { Layout } from '../layout.ts'
import { samePubkey, type Pubkey } from '../pubkey.ts'

// Functions common to the two Pump programs.

export interface PumpEvent {
  /** The event's bytes, beginning with its discriminator. */
  readonly bytes: Uint8Array
  /** Index in the inner group of the call that stated it; null for a logged one. */
  readonly innerIndex: number | null
}

/**
 * Returns the events of a call, in order. The programs state each event by a self-call and for a time also logged it.
 * The log is read only if it is complete and the call stated nothing, so that no event is read twice.
 */
export function pumpEvents(call: Invocation): PumpEvent[] {
  if (call.stated.length > 0) {
    return call.stated.map(({ bytes, instruction }) => ({ bytes, innerIndex: instruction.innerIndex }))
  }
  const { log } = call
  return log !== null && log.complete ? log.data.map((bytes) => ({ bytes, innerIndex: null })) : []
}

/** Reads the body of an event; null if it is shorter than the layout's oldest version. Counts any misfit. */
export function readPumpEvent<T>(call: Invocation, layout: Layout<T>, bytes: Uint8Array): T | null {
  const reading = layout.read(bytes, layout.discriminator.length)
  if (reading === null) call.noteMisfit(layout.name, -bytes.length)
  else if (reading.drift > 0) call.noteMisfit(layout.name, reading.drift)
  return reading === null ? null : reading.value
}

/**
 * Returns the user who traded, launched or moved liquidity. The programs demand the user's signature, so the user of an
 * outer instruction signed the transaction. Below another program it may be an address that only that program signs
 * for.
 *
 * @param named position of the account that should be the user; -1 when not known
 */
export function pumpUser(
  call: Invocation,
  user: Pubkey,
  named: number,
  tokenAccounts: readonly number[]
): Pubkey {
  if (call.instruction.innerIndex === null) return user
  const index = call.account(named)
  const known = index >= 0 && samePubkey(call.transaction.keys.bytes(index), user)
  const authority = known ? index : call.indexOf(user)
  const trader = call.tokens.trader(authority, tokenAccounts)
  // The programs take a buyer's funds from the user alone, whoever pays the fee.
  return authority < 0 && !call.tokens.isSigner(trader) ? user : trader
}

/**
 * Returns the position of a hop's five accounts in a multi-hop list: base mint, quote mint, pool or curve, base vault,
 * quote vault; -1 if no position fits.
 */
export function hopPosition(call: Invocation, fits: (key: (offset: 0 | 1 | 2) => Pubkey) => boolean): number {
  for (let position = 0; position + 5 <= call.accountCount; position++) {
    if (fits((offset) => call.key(position + offset)!)) return position
  }
  return -1
}

/** Sums a call's transfers out of and into a token account, before transfer fees. */
export function transferredTotals(
  call: Invocation,
  account: number
): { readonly out: bigint; readonly in: bigint } {
  const totals = { out: 0n, in: 0n }
  for (const { kind, source, destination, amount } of call.movements) {
    if (kind !== 'transfer') continue
    if (source === account) totals.out += amount
    if (destination === account) totals.in += amount
  }
  return totals
}

interface PumpFees {
  readonly protocol: bigint | undefined
  readonly creator: bigint | undefined
  /** Included in the creator's fee. */
  readonly holderRewards: bigint | undefined
  readonly cashback?: bigint | undefined
  readonly lp?: bigint
}

/** Returns the fees charged to a trade; the buyback is part of the protocol's. */
export function pumpFees(mint: Pubkey, fees: PumpFees): Fee[] {
  const holders = fees.holderRewards ?? 0n
  const creator = fees.creator ?? 0n
  const split = holders <= creator
  const charged: Fee[] = []
  const add = (kind: Fee['kind'], amount: bigint | undefined): void => {
    if (amount !== undefined && amount > 0n) charged.push({ kind, mint, amount })
  }
  add('lp', fees.lp)
  add('protocol', fees.protocol)
  add('creator', split ? creator - holders : creator)
  if (split) add('holder-rewards', holders)
  add('cashback', fees.cashback)
  return charged
}
