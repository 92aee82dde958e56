import type { Invocation } from '../invocation.ts'
import { samePubkey, type Pubkey } from '../pubkey.ts'
import { hopPosition } from './pump-reading.ts'
import { multiHopSwap } from './pumpswap-instructions.ts'

/** The accounts that every event of a pool names. */
export interface Parties {
  readonly pool: Pubkey
  readonly user: Pubkey
  readonly userBaseTokenAccount: Pubkey
  readonly userQuoteTokenAccount: Pubkey
}

/** A pool's mints and the key indexes of its accounts; -1 when not known. */
export interface PoolAccounts {
  readonly baseMint: Pubkey | null
  readonly quoteMint: Pubkey | null
  readonly baseVault: number
  readonly quoteVault: number
  readonly userBase: number
}

/**
 * Returns the accounts of an event's pool: from the instruction's own list, or among the hops of a route. For an
 * unknown instruction, returns the mints of the user's token accounts.
 */
export function poolAccounts(call: Invocation, parties: Parties): PoolAccounts {
  const positions = call.layout?.accounts(call.accountCount)
  const named = positions?.pool === undefined ? null : call.key(positions.pool)
  if (positions?.baseMint !== undefined && named !== null && samePubkey(named, parties.pool)) {
    const at = (name: string): number => call.account(positions[name] ?? -1)
    return {
      baseMint: call.key(positions.baseMint),
      quoteMint: call.key(positions.quoteMint ?? -1),
      baseVault: at('baseVault'),
      quoteVault: at('quoteVault'),
      userBase: at('userBase')
    }
  }
  const userBase = call.indexOf(parties.userBaseTokenAccount)
  const hop = call.is(multiHopSwap) ? hopPosition(call, (key) => samePubkey(key(2), parties.pool)) : -1
  if (hop >= 0) {
    return {
      baseMint: call.key(hop),
      quoteMint: call.key(hop + 1),
      baseVault: call.account(hop + 3),
      quoteVault: call.account(hop + 4),
      userBase
    }
  }
  const userQuote = call.indexOf(parties.userQuoteTokenAccount)
  const mintOf = (account: number): Pubkey | null => (account < 0 ? null : call.tokens.mintOf(account))
  return {
    baseMint: mintOf(userBase),
    quoteMint: mintOf(userQuote),
    baseVault: -1,
    quoteVault: -1,
    userBase
  }
}
