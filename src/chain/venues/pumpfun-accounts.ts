import type { Invocation } from '../invocation.ts'
import { samePubkey, type Pubkey } from '../pubkey.ts'
import { NATIVE_MINT } from '../native-mint.ts'
import { hopPosition } from './pump-reading.ts'
import type { TradeBody } from './pumpfun-events.ts'

export interface CurveAccounts {
  readonly curve: Pubkey | null
  /** Key indexes; -1 when not known. */
  readonly baseVault: number
  readonly quoteVault: number
  readonly feeRecipient: number
  /** Position in the instruction's list; -1 when not known. */
  readonly user: number
  /** Key indexes of the user's token accounts. */
  readonly userTokens: readonly number[]
}

const UNKNOWN: CurveAccounts = {
  curve: null,
  baseVault: -1,
  quoteVault: -1,
  feeRecipient: -1,
  user: -1,
  userTokens: []
}

/** Returns the accounts of a coin's curve: from the instruction's own list, or among the hops of a route. */
export function curveAccounts(call: Invocation, mint: Pubkey, quoteMint: Pubkey): CurveAccounts {
  const positions = call.layout?.accounts(call.accountCount)
  const named = positions?.mint === undefined ? null : call.key(positions.mint)
  if (positions?.bondingCurve !== undefined && named !== null && samePubkey(named, mint)) {
    const at = (name: string): number => call.account(positions[name] ?? -1)
    return {
      curve: call.key(positions.bondingCurve),
      baseVault: at('baseVault'),
      quoteVault: at('quoteVault'),
      feeRecipient: at('feeRecipient'),
      user: positions.user ?? -1,
      userTokens: [at('userBase'), at('userQuote')].filter((account) => account >= 0)
    }
  }
  const hop = hopPosition(call, (key) => samePubkey(key(0), mint) && samePubkey(key(1), quoteMint))
  if (hop < 0) return UNKNOWN
  const [baseVault, quoteVault] = [call.account(hop + 3), call.account(hop + 4)]
  return { ...UNKNOWN, curve: call.key(hop + 2), baseVault, quoteVault }
}

/** Returns the token accounts that took and gave in a trade. A curve holds SOL as lamports, in no token account. */
export function curveVaults(
  { baseVault, quoteVault }: CurveAccounts,
  quoteMint: Pubkey,
  isBuy: boolean
): readonly [number, number] {
  const quote = samePubkey(quoteMint, NATIVE_MINT) ? -1 : quoteVault
  return isBuy ? [quote, baseVault] : [baseVault, quote]
}

/** Returns the curve of an instruction with an unknown account list: the owner of the curve's token account. */
export function curveByTokens(call: Invocation, { mint, isBuy, tokenAmount }: TradeBody): Pubkey | null {
  const { movements, tokens, transaction } = call
  for (const movement of movements) {
    if (movement.kind !== 'transfer' || movement.amount !== tokenAmount) continue
    const moved = tokens.mintMoved(movement)
    if (moved === null || !samePubkey(moved, mint)) continue
    if (!isBuy) return tokens.ownerOf(movement.destination)
    return movement.authority < 0 ? null : transaction.keys.bytes(movement.authority)
  }
  return null
}
