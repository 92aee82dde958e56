import type { Emitter } from '../emitter.ts'
import type { Invocation } from '../invocation.ts'
import { sameSides, type Sides } from '../liquidity-sides.ts'
import { rebalancingEvent } from './meteora-dlmm-events.ts'
import { rebalanceLiquidity } from './meteora-dlmm-instructions.ts'
import { differenceText, emitLiquidity, movedPair } from './meteora-liquidity.ts'

/** The amounts of one token of a rebalance, as its event states them. */
interface Stated {
  readonly withdrawn: bigint
  readonly added: bigint
  /** Fees that the position earned before, paid out with the withdrawn amount. */
  readonly claimed: bigint
}

interface Rebalanced {
  readonly removed: Sides
  readonly added: Sides
  readonly agrees: boolean
}

const UNKNOWN: Sides = { vault: null, trader: null }

/**
 * Emits a rebalance as up to two events: it withdraws and adds in one instruction, and settles each token in one
 * transfer.
 */
export function decodeRebalance(call: Invocation, emit: Emitter): void {
  const accounts = rebalanceLiquidity.accounts(call.accountCount)
  if (accounts === null) return emit.missing('accounts-unknown', `${call.accountCount} accounts`)
  const stated = call.statedEvents(rebalancingEvent)[0]
  if (stated === undefined) return emit.missing('event-missing', 'Rebalancing')
  const { value, innerIndex } = stated
  const statedX = { withdrawn: value.xWithdrawnAmount, added: value.xAddedAmount, claimed: value.xFeeAmount }
  const statedY = { withdrawn: value.yWithdrawnAmount, added: value.yAddedAmount, claimed: value.yFeeAmount }
  const moved = movedPair(call, 'add', [call.account(accounts.reserveX), call.account(accounts.reserveY)])
  const x = settleRebalance(statedX, moved[0])
  const y = settleRebalance(statedY, moved[1])
  if (!x.agrees || !y.agrees) {
    emit.disagreement(differenceText([sameSides(netOf(statedX)), sameSides(netOf(statedY))], moved))
  }
  const common = {
    pool: call.key(accounts.lbPair)!,
    user: call.tokens.trader(call.account(accounts.sender), []),
    mints: [call.key(accounts.tokenXMint)!, call.key(accounts.tokenYMint)!],
    stated: null,
    position: call.key(accounts.position)
  } as const
  emitLiquidity(emit, { ...common, event: 'remove', moved: [x.removed, y.removed] })
  const second = value.xWithdrawnAmount > 0n || value.yWithdrawnAmount > 0n
  emitLiquidity(emit, {
    ...common,
    event: 'add',
    moved: [x.added, y.added],
    ...(second && { innerIxIndex: innerIndex })
  })
}

/** Returns the net amount, in base units, that a token's one transfer moves into the vault; negative out of it. */
function netOf({ withdrawn, added, claimed }: Stated): bigint {
  return added - withdrawn - claimed
}

/**
 * Returns the sides of the withdrawn and the added amount. The one transfer bears the transfer fee, which belongs to the
 * add if tokens came into the vault, else to the withdrawal. Amounts settled against each other bear no fee.
 */
function settleRebalance(stated: Stated, moved: Sides): Rebalanced {
  const { withdrawn, added, claimed } = stated
  const plain = { removed: sameSides(withdrawn), added: sameSides(added) }
  const fee = moved.vault === null || moved.trader === null ? null : moved.trader - moved.vault
  const net = netOf(stated)
  if (fee === 0n) return { ...plain, agrees: net === moved.vault }
  const counts = net === moved.trader ? 'trader' : net === moved.vault ? 'vault' : null
  if (net > 0n) return { ...plain, added: sidesWithFee(added, counts, fee), agrees: counts !== null }
  // The share of the fee that fell on the claimed amount is unknown.
  const bornAlone = claimed === 0n ? fee : null
  const loss = bornAlone === null ? null : -bornAlone
  return {
    ...plain,
    removed: withdrawn === 0n ? plain.removed : sidesWithFee(withdrawn, counts, loss),
    agrees: counts !== null
  }
}

/**
 * Returns the sides of an amount that the event counts on one side. The provider's amount is the vault's plus `more`,
 * null if unknown.
 */
function sidesWithFee(amount: bigint, counts: keyof Sides | null, more: bigint | null): Sides {
  if (counts === null) return UNKNOWN
  return counts === 'trader'
    ? { vault: more === null ? null : amount - more, trader: amount }
    : { vault: amount, trader: more === null ? null : amount + more }
}
